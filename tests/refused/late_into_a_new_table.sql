-- error: there is no table late_flights; write CREATE TABLE late_flights (...) WITH ('connector' = ...) before it
-- at: late_flights
SELECT window_end, COUNT(*) FROM TUMBLE(flights, ts, INTERVAL '1' MINUTE) GROUP BY window_end EMIT FINAL LATE INTO late_flights;
