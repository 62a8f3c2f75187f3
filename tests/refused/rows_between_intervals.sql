-- error: ROWS are counted, and an INTERVAL is a span of time; write RANGE with the INTERVAL, or a number of rows: 5 PRECEDING
-- at: ROWS BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW
SELECT id, SUM(delay) OVER (ORDER BY ts ROWS BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS s FROM flights;
