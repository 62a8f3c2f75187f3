-- The window's time is the next window's event time.
CREATE VIEW minutes AS
SELECT window_time AS at, origin, COUNT(*) AS n FROM TUMBLE(flights, ts, INTERVAL '1' MINUTE) GROUP BY window_start, window_end, window_time, origin;
SELECT window_start, SUM(n) AS n, MAX(n) AS busiest FROM TUMBLE(TABLE minutes, DESCRIPTOR(at), INTERVAL '1' HOUR) GROUP BY window_start, window_end;
