-- error: HOUR does not belong here; write INTERVAL '1' HOUR
-- at: HOUR
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), 1 HOUR)) GROUP BY window_start, window_end;
