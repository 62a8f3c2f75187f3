-- error: INT = VARCHAR is not possible; flight is INT and 'UA1545' is no number: write a number, or CAST(flight AS VARCHAR)
-- at: flight = 'UA1545'
CREATE TABLE flights (ts TIMESTAMP(3), other TIMESTAMP(3), origin VARCHAR, flight INT, dep_delay INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT origin FROM flights WHERE flight = 'UA1545';
