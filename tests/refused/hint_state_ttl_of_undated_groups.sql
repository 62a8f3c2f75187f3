-- error: STATE_TTL of words is not supported: it has no event time; declare a WATERMARK in its CREATE TABLE, or leave the hint out
-- at: 'words' = '1d'
SELECT /*+ STATE_TTL('words' = '1d') */ DISTINCT word FROM words;
