-- error: there is no column proctime in f; rows have no time by the clock here: write the column of the WATERMARK, which is event time
-- at: proctime
SELECT f.id FROM flights AS f JOIN flights FOR SYSTEM_TIME AS OF f.proctime AS w ON f.origin = w.origin;
