-- Queries of which docs/batch.md says how Structured Streaming runs them, each behind its name.
CREATE TABLE t (k VARCHAR, v BIGINT, tags ARRAY<VARCHAR>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'file', 'path' = 't.parquet', 'format' = 'parquet');
CREATE VIEW minutes AS SELECT window_end AS closed, window_time AS wt, k, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time, k;
CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM t GROUP BY k;

-- query: SELECT, WHERE, UNNEST
SELECT k, tag FROM t CROSS JOIN UNNEST(tags) AS x (tag) WHERE v > 3;

-- query: UNION ALL of rows
SELECT k FROM t UNION ALL SELECT tags[1] FROM t;

-- query: SELECT DISTINCT
SELECT DISTINCT k FROM t;

-- query: a window that closes
SELECT * FROM minutes;

-- query: a window that closes, with HAVING or DISTINCT calls
SELECT window_end, COUNT(DISTINCT k) AS n
FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end HAVING COUNT(*) > 3;

-- query: window over window
SELECT window_end, MAX(n) AS most
FROM TABLE(TUMBLE(TABLE minutes, DESCRIPTOR(wt), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;

-- query: UNION ALL of rows and of windows that close
SELECT k, v FROM t UNION ALL SELECT k, n FROM minutes;

-- query: a window with EMIT CHANGES
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end EMIT CHANGES;

-- query: GROUP BY k
SELECT k, SUM(v) AS total FROM t GROUP BY k;

-- query: an aggregate without keys
SELECT COUNT(*) AS n FROM t;

-- query: GROUP BY without its keys in the answer
SELECT COUNT(*) AS n FROM t GROUP BY k;

-- query: GROUP BY k HAVING
SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING COUNT(*) > 3;

-- query: aggregate over aggregate
SELECT n, COUNT(*) AS ks FROM counts GROUP BY n;

-- query: UNION ALL of aggregates
SELECT k, n FROM counts UNION ALL SELECT 'all', COUNT(*) FROM t;

-- query: UNION ALL of rows and of an aggregate
SELECT k, v FROM t UNION ALL SELECT k, n FROM counts;

-- query: GROUP BY over windows that close
SELECT k, MAX(n) AS most FROM minutes GROUP BY k;
