-- error: FLATTEN is not supported; write CROSS JOIN UNNEST(f.tags) AS u (element), or UNNEST(f.tags) AS u (key, element) of a MAP
-- at: FLATTEN(f.tags)
SELECT f.id, t.value FROM flights AS f, TABLE(FLATTEN(f.tags)) AS t;
