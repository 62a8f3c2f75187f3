SET 'parallelism' = '2';
SET batch.rows = 100;
BEGIN STATEMENT SET;
  INSERT INTO lines SELECT word, n FROM words;
  INSERT INTO lines SELECT UPPER(word), n FROM words;
END;
