-- error: SUMMARIZE is not supported: write SELECT COUNT(*), MIN(a), MAX(a), APPROX_COUNT_DISTINCT(a) FROM t, or DESCRIBE t for its columns
-- at: SUMMARIZE
SUMMARIZE flights;
