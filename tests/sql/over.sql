INSERT INTO lines SELECT origin, total + before FROM (SELECT origin, SUM(delay) OVER (PARTITION BY origin ORDER BY ts RANGE INTERVAL '1' HOUR PRECEDING) AS total, LAG(delay) OVER (PARTITION BY origin ORDER BY ts) AS before FROM flights) AS f;
INSERT INTO lines SELECT origin, ROW_NUMBER() OVER w + RANK() OVER w FROM flights WINDOW w AS (PARTITION BY origin, distance ORDER BY ABS(delay) DESC, id);
INSERT INTO lines SELECT origin, SUM(COUNT(*)) OVER () FROM flights GROUP BY origin, carrier QUALIFY RANK() OVER (PARTITION BY origin ORDER BY MAX(delay) DESC) = 1;
INSERT INTO lines SELECT origin, n FROM (SELECT window_start, window_end, origin, COUNT(*) AS n FROM TUMBLE(flights, ts, INTERVAL '1' DAY) GROUP BY window_start, window_end, origin) AS d
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) <= 3;
SELECT id, MAX(delay) OVER (PARTITION BY origin ORDER BY ts) AS worst FROM flights EMIT CHANGES;
