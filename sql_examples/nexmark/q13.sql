-- Bounded side input: each bid with what a file says of its auction. (The original looks the file up by the clock.)
--
--     ouzel run sql_examples/nexmark/q13.sql

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'table' = 'bid', 'events' = '5000', 'interval.us' = '10000');

CREATE TABLE side_input (key BIGINT, `value` VARCHAR)
WITH ('connector' = 'file', 'path' = 'side_input.csv', 'format' = 'csv');

SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.`value`
FROM bid B JOIN side_input AS S ON MOD(B.auction, 10000) = S.key;
