-- error: SIMILAR TO is not supported: write REGEXP_LIKE or LIKE
-- at: SIMILAR TO
SELECT id FROM flights WHERE origin SIMILAR TO 'J%';
