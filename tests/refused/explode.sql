-- error: there is no function EXPLODE; write FROM t CROSS JOIN UNNEST(SPLIT(origin, ' ')) AS u (element), with your table for t
-- at: explode(SPLIT(origin, ' '))
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT explode(SPLIT(origin, ' ')) AS w FROM flights;
