-- error: NOW is not supported: the clock would make the stream and the batch job disagree; use a time column of the table
-- at: NOW()
SELECT id FROM flights WHERE ts > NOW();
