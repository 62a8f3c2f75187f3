-- error: ARRAY_CONTAINS does not take (VARCHAR, ARRAY<VARCHAR>); the array comes first: write ARRAY_CONTAINS(SPLIT(origin, ','), 'a')
-- at: ARRAY_CONTAINS('a', SPLIT(origin, ','))
SELECT ARRAY_CONTAINS('a', SPLIT(origin, ',')) FROM flights;
