-- error: LIMIT does not belong here; the EMIT clause ends the statement: write LIMIT 2 before EMIT
-- at: LIMIT 2
SELECT origin, COUNT(*) FROM flights GROUP BY origin EMIT CHANGES LIMIT 2;
