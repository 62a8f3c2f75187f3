SELECT /*+ PARALLELISM('f' = '2', 'words' = '3'), GROUPING('f' = 'shuffle') */ origin FROM flights AS f UNION ALL SELECT word FROM words;
