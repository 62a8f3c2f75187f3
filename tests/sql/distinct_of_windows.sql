SELECT DISTINCT window_end, origin FROM TUMBLE(flights, ts, INTERVAL '1' DAY);
