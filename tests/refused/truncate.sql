-- error: TRUNCATE is not supported: a topology appends to or upserts into its sinks
-- at: TRUNCATE
TRUNCATE TABLE flights;
