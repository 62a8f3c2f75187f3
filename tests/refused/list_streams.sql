-- error: LIST is not supported: write SHOW TABLES
-- at: LIST
LIST STREAMS;
