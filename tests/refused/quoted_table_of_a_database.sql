-- error: there is no table shop.sales.flights; tables have no database or catalog: write flights
-- at: `shop.sales.flights`
SELECT id FROM `shop.sales.flights`;
