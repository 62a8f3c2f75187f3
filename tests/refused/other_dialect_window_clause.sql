-- error: the clause WINDOW is not supported: write FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR) and GROUP BY window_start, window_end
-- at: WINDOW
SELECT origin, COUNT(*) FROM flights WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY origin EMIT CHANGES;
