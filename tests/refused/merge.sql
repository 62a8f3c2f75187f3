-- error: MERGE is not supported: write INSERT INTO a table with a PRIMARY KEY
-- at: MERGE
MERGE INTO words USING flights ON words.word = flights.origin WHEN MATCHED THEN DELETE;
