-- error: the table name u is given more than once in this FROM; write AS u2
-- at: u
SELECT a, b FROM words CROSS JOIN UNNEST(ARRAY['x']) AS u (a) CROSS JOIN UNNEST(ARRAY['y']) AS u (b);
