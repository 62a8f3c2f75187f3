-- error: CURRENT_TIMESTAMP is not supported: the clock would make the stream and the batch job disagree; use a time column of the table
-- at: CURRENT_TIMESTAMP
SELECT CURRENT_TIMESTAMP FROM flights;
