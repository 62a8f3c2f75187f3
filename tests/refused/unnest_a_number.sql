-- error: UNNEST takes an ARRAY or a MAP, this is INT
-- at: delay
SELECT x FROM flights CROSS JOIN UNNEST(delay) AS u (x);
