-- error: which of LIKE and <> comes first is not said; write (origin LIKE 'J%') in parentheses
-- at: origin LIKE 'J%' <> late
SELECT id FROM flights WHERE origin LIKE 'J%' <> late;
