-- error: the hint STATE_TTL is not supported yet
-- at: 'words' = '1d'
SELECT /*+ STATE_TTL('words' = '1d') */ word FROM words;
