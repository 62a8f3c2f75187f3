-- error: target (file) only takes new rows, and the aggregate GROUP BY (word) changes rows it has emitted; use EMIT AFTER WATERMARK with a window, or a sink that accepts updates: one whose connector takes upsert or retract
-- at: target
CREATE TABLE target (word STRING, n BIGINT) WITH ('connector' = 'file', 'path' = 'out.csv');
CREATE TABLE words (word STRING) WITH ('connector' = 'datagen');
INSERT INTO target SELECT word, COUNT(*) FROM words GROUP BY word;
