-- error: STATE_TTL('words' = '1d') bounds nothing: no JOIN of this table, and no GROUP BY, DISTINCT or OVER by keys of it; remove it, or name the table or alias in FROM of the SELECT that groups; of DISTINCT ON make QUALIFY ROW_NUMBER() OVER (...) = 1
-- at: 'words' = '1d'
SELECT /*+ STATE_TTL('words' = '1d') */ word FROM words;
