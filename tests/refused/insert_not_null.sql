-- error: target.b is NOT NULL and gets no value; add b to the columns
-- at: target
CREATE TABLE target (a STRING, b BIGINT NOT NULL) WITH ('connector' = 'print');
CREATE TABLE words (word STRING) WITH ('connector' = 'datagen');
INSERT INTO target (a) SELECT word FROM words;
