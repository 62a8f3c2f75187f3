-- error: the hint PARALLELISM says nothing; write PARALLELISM('table' = '2')
-- at: PARALLELISM(words, 2)
SELECT /*+ PARALLELISM(words, 2) */ word FROM words;
