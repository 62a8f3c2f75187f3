-- error: XOR is not supported; write a <> b
-- at: XOR
CREATE TABLE flights (late BOOLEAN, far BOOLEAN, odd AS late XOR far)
WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT * FROM flights;
