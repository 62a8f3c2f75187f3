-- error: IF does not take (BOOLEAN, VARCHAR, INT); write IF(delay > 1, 'a', CAST(2 AS VARCHAR))
-- at: IF(delay > 1, 'a', 2)
SELECT IF(delay > 1, 'a', 2) AS x FROM flights;
