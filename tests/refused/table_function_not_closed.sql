-- error: a ) is missing
-- at: GROUP BY
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_end;
