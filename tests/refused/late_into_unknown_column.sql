-- error: lines.word is no column of the rows that may be late; they have window_end, id, ts, origin, carrier, delay, distance, fare, late, tags, legs, notes, plane, window_start, window_time
-- at: lines
SELECT window_end, COUNT(*) FROM TUMBLE(flights, ts, INTERVAL '1' MINUTE) GROUP BY window_end EMIT FINAL LATE INTO lines;
