CREATE TABLE t (a INT, b BIGINT, c DOUBLE, s VARCHAR, tags ARRAY<VARCHAR>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'file', 'path' = 't.parquet', 'format' = 'parquet');
CREATE TABLE u (x INT, y VARCHAR) WITH ('connector' = 'file', 'path' = 'u.parquet', 'format' = 'parquet');
CREATE TABLE k (a INT, s VARCHAR) WITH ('connector' = 'kafka', 'topic' = 'k');
CREATE TABLE one (a INT) WITH ('connector' = 'file', 'path' = 'one', 'format' = 'parquet');
CREATE TABLE two (a INT) WITH ('connector' = 'file', 'path' = 'two', 'format' = 'parquet');
CREATE TABLE lenient (p INT NOT NULL, q INT)
WITH ('connector' = 'file', 'path' = 'lenient.json', 'format' = 'json', 'bad.record' = 'dead-letter', 'dead-letter.path' = 'bad.jsonl');
