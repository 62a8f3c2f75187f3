-- error: this query has no event time to cut into windows; rows of a join come at any time after ts: take the window of a table first, and join the windows
-- at: ts
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT f.ts AS ts FROM flights AS f JOIN words AS w ON f.origin = w.word), DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
