-- error: NULLIF does not take (INT, VARCHAR); write NULLIF(delay, 1)
-- at: NULLIF(delay, '1')
SELECT NULLIF(delay, '1') FROM flights;
