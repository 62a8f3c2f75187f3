-- error: FLATTEN is not supported; write CROSS JOIN UNNEST(f.tags) AS u (element), or UNNEST(f.tags) AS u (key, element) of a MAP
-- at: FLATTEN(input => f.tags)
SELECT f.id, t.value FROM flights AS f, LATERAL FLATTEN(input => f.tags) AS t;
