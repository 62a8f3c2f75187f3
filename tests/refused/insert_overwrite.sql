-- error: INSERT OVERWRITE is not supported: a stream only adds; write INSERT INTO
-- at: INSERT OVERWRITE
CREATE TABLE copies (word VARCHAR) WITH ('connector' = 'print');
INSERT OVERWRITE copies SELECT word FROM words;
