SELECT id, tag, place, airport, minutes, k, v
FROM flights AS f
CROSS JOIN UNNEST(f.tags) WITH ORDINALITY AS t (tag, place)
LEFT JOIN UNNEST(legs) AS leg (airport) ON TRUE
CROSS JOIN UNNEST(notes) AS note (k, v);
