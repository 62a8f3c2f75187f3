-- error: revenue (file) only takes new rows, and the aggregate GROUP BY (word) changes rows it has emitted; use EMIT AFTER WATERMARK with a window, or add 'changelog' = 'true' to revenue, which then holds each change as a row; for the answer as it is at the end write SELECT alone, and run ouzel run question.sql --format csv > rev.csv
-- at: revenue
CREATE TABLE words (word STRING) WITH ('connector' = 'datagen');
CREATE TABLE revenue (word STRING, n BIGINT) WITH ('connector' = 'file', 'path' = 'rev.csv', 'format' = 'csv');
INSERT INTO revenue SELECT word, COUNT(*) FROM words GROUP BY word;
