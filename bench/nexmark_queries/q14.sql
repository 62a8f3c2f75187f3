-- Calculation: dear bids by time of day. (The original counts letters with a Java function; here REPLACE does it.)
CREATE TABLE answer (auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), bid_time_type VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR, c_counts BIGINT)
WITH ('connector' = 'blackhole');
INSERT INTO answer
SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)) AS price,
  CASE WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
       WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime' ELSE 'otherTime' END AS bid_time_type,
  `dateTime`, extra, CAST(CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS BIGINT) AS c_counts
FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;
