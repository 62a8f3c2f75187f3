-- error: UNNEST gives 1 column, not 2
-- at: y
SELECT x FROM flights CROSS JOIN UNNEST(tags) AS u (x, y);
