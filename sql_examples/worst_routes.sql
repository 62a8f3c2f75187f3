-- The three routes on which flights came latest, week by week: first places of each window, told when the window is over.
--
--     ouzel run sql_examples/worst_routes.sql

CREATE TABLE flights (
  ts        TIMESTAMP(3),
  origin    VARCHAR,
  dest      VARCHAR,
  arr_delay INT,  -- minutes; NULL: it never came
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'data/flights.parquet', 'format' = 'parquet');

-- A week of a route: a windowed aggregate, whose rows are final.
CREATE VIEW routes AS
SELECT window_start, window_end, origin, dest, ROUND(AVG(arr_delay), 1) AS avg_delay
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '7' DAY))
GROUP BY window_start, window_end, origin, dest
HAVING COUNT(arr_delay) >= 20;

SELECT CAST(window_start AS DATE) AS week, place, origin, dest, avg_delay
FROM (
  SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY avg_delay DESC) AS place  -- two may share a place
  FROM routes
)
WHERE place <= 3;
