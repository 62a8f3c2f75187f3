-- error: CURRENT_DATE is not supported: the clock would make the stream and the batch job disagree; use a time column of the table
-- at: CURRENT_DATE
SELECT word, CURRENT_DATE AS today FROM words;
