-- error: DECIMAL(10, 2) DIV INT is not possible; write CAST(price / 3 AS BIGINT)
-- at: price DIV 3
CREATE TABLE sales (price DECIMAL(10, 2)) WITH ('connector' = 'file', 'path' = 'f.parquet', 'format' = 'parquet');
SELECT price DIV 3 AS a FROM sales;
