CREATE TABLE flights (
  ts TIMESTAMP(3), carrier VARCHAR, origin VARCHAR, dest VARCHAR, dep_delay INT, arr_delay INT, distance INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

CREATE TABLE late_by_day (day_start TIMESTAMP(3), late BIGINT) WITH ('connector' = 'file', 'path' = 'out/by_day', 'format' = 'parquet');
CREATE TABLE late_by_origin (origin VARCHAR, late BIGINT, PRIMARY KEY (origin) NOT ENFORCED)
WITH ('connector' = 'kafka', 'bootstrap.servers' = 'broker:9092', 'topic' = 'late', 'format' = 'json');

CREATE VIEW late AS SELECT ts, origin FROM flights WHERE dep_delay > 15;

INSERT INTO late_by_day
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end;

INSERT INTO late_by_origin SELECT origin, COUNT(*) FROM late GROUP BY origin;
