-- error: a window cannot be measured in months; write for example INTERVAL '1' DAY
-- at: INTERVAL '2' MONTH
SELECT window_end FROM TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '2' MONTH);
