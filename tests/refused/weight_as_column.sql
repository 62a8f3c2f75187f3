-- error: '$weight' is a name of Ouzel's own for what is beside a row; choose a name without the $
-- at: `$weight`
CREATE TABLE words (word STRING, n BIGINT) WITH ('connector' = 'file', 'path' = 'w.csv');
SELECT word, n AS `$weight` FROM words;
