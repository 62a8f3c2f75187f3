-- error: EMIT AFTER DELAY has nothing to hold back: this query has no aggregate of its own; remove it, or write it in the view that aggregates
-- at: EMIT AFTER DELAY INTERVAL '5' SECOND
SELECT origin FROM flights EMIT AFTER DELAY INTERVAL '5' SECOND;
