-- error: there is no table w in FROM; there is words
-- at: w
SELECT w.* FROM words;
