-- error: the hint STATE_TTL is not supported; time bounds state: join within a span of time, or cut windows
-- at: 'words' = '1d'
SELECT /*+ STATE_TTL('words' = '1d') */ word FROM words;
