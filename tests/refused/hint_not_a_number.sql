-- error: 'two' is not a number of tasks; write 'words' = '2'
-- at: 'words' = 'two'
SELECT /*+ PARALLELISM('words' = 'two') */ word FROM words;
