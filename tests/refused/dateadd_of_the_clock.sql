-- error: GETDATE is not supported: the clock would make the stream and the batch job disagree; use a time column of the table, or write the time itself: ts > TIMESTAMP '2026-01-31 00:00:00'
-- at: GETDATE()
SELECT id FROM flights WHERE ts > DATEADD(day, -7, GETDATE());
