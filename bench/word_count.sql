-- The word count as SQL: every change of every count leaves at once. {{words}}, {{key}} and {{options}} are put in by word_count.py.
CREATE TABLE words (word VARCHAR) WITH ('connector' = 'datagen', 'fields.word.cardinality' = '{words}', 'fields.word.length' = '8');

CREATE TABLE counts (word VARCHAR, n BIGINT{key}) WITH ({options});

INSERT INTO counts SELECT word, COUNT(*) AS n FROM words GROUP BY word EMIT CHANGES;
