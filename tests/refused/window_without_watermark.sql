-- error: trips has no event time to cut into windows; add WATERMARK FOR ts AS ts - INTERVAL '5' SECOND to CREATE TABLE trips
-- at: ts
CREATE TABLE trips (ts TIMESTAMP(3), n INT) WITH ('connector' = 'file', 'path' = 'trips.csv');
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE trips, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_end;
