-- error: UNNEST twice in one select list is not supported; write CROSS JOIN UNNEST(a) AS u (x) for each
-- at: UNNEST(tags)
SELECT UNNEST(tags) AS a, UNNEST(tags) AS b FROM flights;
