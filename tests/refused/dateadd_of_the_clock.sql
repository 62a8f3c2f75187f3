-- error: GETDATE is not supported: the clock would make the stream and the batch job disagree; use a time column of the table
-- at: GETDATE()
SELECT id FROM flights WHERE ts > DATEADD(day, -7, GETDATE());
