-- The first half of q5, hot items: bids on each auction in the last 10 s, every 2 s. (The second half, the largest of them, needs a join.)
CREATE TABLE answer (auction BIGINT, num BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)) WITH ('connector' = 'blackhole');
INSERT INTO answer
SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND)) GROUP BY auction, window_start, window_end;
