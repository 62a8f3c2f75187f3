-- RisingWave's spelling; only window_start is grouped by, so window_end is a hidden key.
SELECT window_start, MAX(delay) AS worst FROM HOP(flights, ts, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE) GROUP BY window_start;
