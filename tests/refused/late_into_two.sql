-- error: LATE INTO names one table, and ends the statement; write LATE INTO late_rows
-- at: LATE INTO lines, words
SELECT window_end, COUNT(*) FROM TUMBLE(flights, ts, INTERVAL '1' MINUTE) GROUP BY window_end EMIT FINAL LATE INTO lines, words;
