-- Log to files: every bid, with the day and the minute it is of. (Flink cuts the folder by both; here they are columns.)
--
--     ouzel run sql_examples/nexmark/q10.sql

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'table' = 'bid', 'events' = '5000', 'interval.us' = '10000');

CREATE TABLE archive (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra VARCHAR, dt VARCHAR, hm VARCHAR
) WITH ('connector' = 'file', 'path' = 'archive', 'format' = 'csv');

INSERT INTO archive
SELECT auction, bidder, price, `dateTime`, extra, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS dt, DATE_FORMAT(`dateTime`, 'HH:mm') AS hm
FROM bid;
