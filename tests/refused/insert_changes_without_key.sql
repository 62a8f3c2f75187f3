-- error: target (kafka) only takes new rows, and the aggregate GROUP BY (word) changes rows it has emitted; use EMIT AFTER WATERMARK with a window, or declare PRIMARY KEY (...) NOT ENFORCED in CREATE TABLE target
-- at: target
CREATE TABLE target (word STRING, n BIGINT) WITH ('connector' = 'kafka');
CREATE TABLE words (word STRING) WITH ('connector' = 'datagen');
INSERT INTO target SELECT word, COUNT(*) FROM words GROUP BY word;
