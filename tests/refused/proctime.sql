-- error: PROCTIME is not supported: the clock would make the stream and the batch job disagree; use a time column of the table
-- at: PROCTIME()
SELECT word, PROCTIME() AS seen FROM words;
