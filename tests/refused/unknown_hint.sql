-- error: there is no hint PARALELISM; the hints are PARALLELISM, GROUPING and STATE_TTL
-- at: 'words' = '2'
SELECT /*+ PARALELISM('words' = '2') */ word FROM words;
