-- The first half of q7, highest bid: the highest price of each 10 s. (The second half, which bid it was, needs a join.)
CREATE TABLE answer (maxprice BIGINT, endtime TIMESTAMP(3)) WITH ('connector' = 'blackhole');
INSERT INTO answer
SELECT MAX(price) AS maxprice, window_end AS endtime
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
