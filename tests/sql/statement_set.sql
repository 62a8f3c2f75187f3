SET 'parallelism' = '2';
SET batch.rows = 100;
EXECUTE STATEMENT SET BEGIN
  INSERT INTO lines SELECT word, n FROM words;
  INSERT INTO lines SELECT UPPER(word), n FROM words;
END;
