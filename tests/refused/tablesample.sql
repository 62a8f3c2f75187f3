-- error: TABLESAMPLE is not supported: write a condition such as MOD(id, 10) = 0
-- at: TABLESAMPLE
SELECT word FROM words TABLESAMPLE (10 PERCENT);
