-- error: f is a table beside this one, and f.tags an expression of its rows; write CROSS JOIN UNNEST(f.tags) AS u (element)
-- at: f.tags t
SELECT f.id, t FROM flights f, f.tags t;
