-- error: a list comprehension is not supported; write CROSS JOIN UNNEST(array) AS u (element), and ARRAY_AGG of what is computed
-- at: [upper(t) for t in tags if t <> '']
SELECT [upper(t) for t in tags if t <> ''] AS loud FROM flights;
