-- error: this CASE has no WHEN; write CASE WHEN delay > 15 THEN
-- at: CASE
SELECT CASE delay > 15 THEN 'late' ELSE 'ok' END AS state FROM flights;
