-- error: target (file) only takes new rows, and the aggregate GROUP BY (word) changes rows it has emitted; use EMIT AFTER WATERMARK with a window, or add 'changelog' = 'true' to target, which then holds each change as a row
-- at: target
CREATE TABLE target (word STRING, n BIGINT) WITH ('connector' = 'file', 'path' = 'out.csv');
CREATE TABLE words (word STRING) WITH ('connector' = 'datagen');
INSERT INTO target SELECT word, COUNT(*) FROM words GROUP BY word;
