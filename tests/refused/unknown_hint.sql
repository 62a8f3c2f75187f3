-- error: there is no hint PARALELISM; the hints are PARALLELISM and GROUPING
-- at: 'words' = '2'
SELECT /*+ PARALELISM('words' = '2') */ word FROM words;
