-- error: there is no hint PARALELISM; the hints are PARALLELISM, GROUPING, STATE_TTL and BROADCAST
-- at: 'words' = '2'
SELECT /*+ PARALELISM('words' = '2') */ word FROM words;
