-- error: TRUNCATE is not supported; a topology appends to or upserts into its sinks: write into another table
-- at: TRUNCATE
TRUNCATE TABLE flights;
