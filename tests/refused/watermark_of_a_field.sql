-- error: a watermark is of a column, and this is a field; compute a column of it: at AS meta.at, and write WATERMARK FOR at AS at
-- at: meta.at
CREATE TABLE clicks (user_id BIGINT, meta ROW<at TIMESTAMP(3)>, WATERMARK FOR meta.at AS meta.at - INTERVAL '5' SECOND) WITH ('connector' = 'kafka');
SELECT * FROM clicks;
