-- error: CAST does not say to which type; write CAST(value AS INT)
-- at: CAST(delay)
SELECT CAST(delay) FROM flights;
