-- error: PERCENT does not belong here; write how many rows: LIMIT 10
-- at: PERCENT
SELECT id FROM flights ORDER BY delay FETCH NEXT 10 PERCENT ROWS ONLY;
