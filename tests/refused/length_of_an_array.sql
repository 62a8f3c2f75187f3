-- error: LENGTH does not take ARRAY<VARCHAR>; write CARDINALITY(SPLIT(origin, ','))
-- at: LENGTH(SPLIT(origin, ','))
SELECT LENGTH(SPLIT(origin, ',')) FROM flights;
