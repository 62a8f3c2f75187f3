-- error: LATERAL of anything but a subquery or UNNEST is not supported: have the function give an ARRAY, and write CROSS JOIN UNNEST(f(x))
-- at: LATERAL
SELECT f.id, w.word FROM flights AS f, LATERAL TABLE(SPLIT(f.origin, ' ')) AS w (word);
