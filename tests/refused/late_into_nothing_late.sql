-- error: LATE INTO has nothing to take: no row comes too late for this query; remove it, or write it where windows close: GROUP BY window_start, window_end of TUMBLE(...)
-- at: lines
SELECT origin, COUNT(*) FROM flights GROUP BY origin EMIT CHANGES LATE INTO lines;
