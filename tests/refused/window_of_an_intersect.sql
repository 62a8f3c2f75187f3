-- error: this query has no event time to cut into windows; rows of an INTERSECT or EXCEPT come at any time after ts: take the window of a table first
-- at: ts
SELECT window_end FROM TABLE(TUMBLE((SELECT ts FROM flights INTERSECT SELECT ts FROM flights), DESCRIPTOR(ts), INTERVAL '1' HOUR));
