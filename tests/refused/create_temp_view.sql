-- error: CREATE TEMP VIEW is not supported: write CREATE TEMPORARY VIEW, or CREATE VIEW, which says the same
-- at: CREATE TEMP VIEW
CREATE TEMP VIEW v AS SELECT origin FROM flights;
