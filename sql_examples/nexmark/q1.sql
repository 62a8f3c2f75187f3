-- Currency conversion: what each bid is in euros.
--
--     ouzel run sql_examples/nexmark/q1.sql

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'table' = 'bid', 'events' = '5000', 'interval.us' = '10000');

SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra FROM bid;
