-- error: seen is not event time: the watermark is on ts; write ts
-- at: seen
CREATE TABLE trips (ts TIMESTAMP(3), seen TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'file', 'path' = 'trips.csv');
SELECT window_end FROM TUMBLE(TABLE trips, DESCRIPTOR(seen), INTERVAL '1' MINUTE);
