-- error: FLATTEN is not supported; write CROSS JOIN UNNEST(f.tags) AS t and t.field where its elements are ROWs, AS t (value) where they are not, or AS t (key, value) of a MAP
-- at: FLATTEN(input => f.tags)
SELECT f.id, t.value FROM flights AS f, LATERAL FLATTEN(input => f.tags) AS t;
