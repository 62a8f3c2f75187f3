-- error: AT does not belong here; see docs/sql.md for what a query may hold
-- at: AT
SELECT f.id FROM flights AS f AT w;
