-- error: UNNEST ... ON another condition than TRUE is not supported; write the condition in WHERE
-- at: x = origin
SELECT x FROM flights LEFT JOIN UNNEST(tags) AS u (x) ON x = origin;
