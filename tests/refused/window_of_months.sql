-- error: a window cannot be measured in months; write GROUP BY DATE_TRUNC('MONTH', ts) without a window, whose row changes until its month is over
-- at: INTERVAL '1' MONTH
SELECT window_end FROM TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' MONTH);
