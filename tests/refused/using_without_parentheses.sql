-- error: USING does not belong here; write USING (origin)
-- at: USING
SELECT a.id FROM flights AS a JOIN flights AS b USING origin;
