-- error: UNNEST takes an ARRAY or a MAP, this is VARCHAR; write UNNEST(SPLIT(text, ',')) for the parts of a text
-- at: origin
SELECT id, letter FROM flights CROSS JOIN UNNEST(origin) AS t (letter);
