-- error: LEFT JOIN UNNEST ... WITH ORDINALITY ON another condition than TRUE is not supported; leave WITH ORDINALITY out, or write ON TRUE
-- at: x = origin
SELECT x FROM flights LEFT JOIN UNNEST(tags) WITH ORDINALITY AS u (x, n) ON x = origin;
