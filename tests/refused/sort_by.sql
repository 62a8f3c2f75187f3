-- error: SORT BY is not supported: a stream has no end to sort at; write ORDER BY ... LIMIT 10 behind the query
-- at: SORT BY
SELECT origin, delay FROM flights SORT BY delay;
