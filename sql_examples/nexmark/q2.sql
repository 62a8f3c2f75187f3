-- Selection: bids on one auction in 123.
--
--     ouzel run sql_examples/nexmark/q2.sql

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'table' = 'bid', 'events' = '5000', 'interval.us' = '10000');

SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0;
