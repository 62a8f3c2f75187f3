-- error: PROCTIME is not supported: the clock would make the stream and the batch job disagree; use a time column of the table
-- at: PROCTIME
SELECT f.id FROM flights AS f JOIN flights FOR SYSTEM_TIME AS OF PROCTIME() AS w ON f.origin = w.origin;
