-- error: FETCH ... PERCENT and WITH TIES are not supported; QUALIFY RANK() OVER (ORDER BY ...) <= n keeps ties
-- at: 3
SELECT id FROM flights ORDER BY delay FETCH FIRST 3 ROWS WITH TIES;
