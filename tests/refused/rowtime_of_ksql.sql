-- error: there is no column ROWTIME in flights; rows have no time by the clock here: write ts, which is event time
-- at: ROWTIME
SELECT ROWTIME, id FROM flights;
