SELECT window_end, COUNT(*) AS n FROM TUMBLE(flights, ts, INTERVAL '1' MINUTE) GROUP BY window_end EMIT CHANGES;
