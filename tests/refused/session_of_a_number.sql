-- error: a window's length is an INTERVAL, this is INT; write INTERVAL '1800' SECOND if these are seconds
-- at: 1800
SELECT carrier, COUNT(*) AS n FROM TABLE(SESSION(TABLE flights PARTITION BY carrier, DESCRIPTOR(ts), 1800)) GROUP BY carrier, window_start, window_end;
