-- error: the connector datagen cannot be written; insert into a table of another connector
-- at: words
CREATE TABLE words (word STRING) WITH ('connector' = 'datagen');
INSERT INTO words SELECT word FROM words;
