-- error: WITH does not belong here; write CROSS JOIN UNNEST(tags) WITH ORDINALITY AS u (tag, pos), which counts from 1
-- at: WITH
SELECT id, tag, pos FROM flights, UNNEST(tags) AS tag WITH OFFSET AS pos;
