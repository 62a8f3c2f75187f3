-- error: STATE_TTL('words' = '1d') bounds no JOIN of this statement; remove it; an aggregate is bounded by windows, or by SESSION where a key comes to rest
-- at: 'words' = '1d'
SELECT /*+ STATE_TTL('words' = '1d') */ word FROM words;
