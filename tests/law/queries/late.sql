-- query: late_rows_are_counted
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '10' SECONDS)) GROUP BY window_start, window_end;
-- duckdb:
SELECT tumble(ts, INTERVAL 10 SECOND) AS window_start, COUNT(*) AS n FROM late GROUP BY 1;

-- query: late_rows_of_keys_are_counted
SELECT window_start, k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '30' SECONDS)) GROUP BY window_start, window_end, k;
-- duckdb:
SELECT tumble(ts, INTERVAL 30 SECOND) AS window_start, k, COUNT(*) AS n FROM late GROUP BY 1, 2;

-- query: lateness_ends
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '10' SECONDS)) GROUP BY window_start, window_end
EMIT AFTER WATERMARK WITH LATENESS INTERVAL '3' SECOND;
-- duckdb:
SELECT tumble(ts, INTERVAL 10 SECOND) AS window_start, COUNT(*) AS n FROM late GROUP BY 1;

-- query: late_rows_of_hops_are_counted
SELECT window_start, k, COUNT(*) AS n FROM TABLE(HOP(TABLE late, DESCRIPTOR(ts), INTERVAL '5' SECONDS, INTERVAL '15' SECONDS))
GROUP BY window_start, window_end, k;
-- duckdb:
SELECT tumble(ts, INTERVAL 5 SECOND) - back * INTERVAL 5 SECOND AS window_start, k, COUNT(*) AS n FROM late, (VALUES (0), (1), (2)) AS panes (back) GROUP BY 1, 2;
