-- error: CREATE TEMP is not supported: write CREATE VIEW name AS SELECT ..., or CREATE TABLE name (columns)
-- at: CREATE TEMP
CREATE TEMP TABLE totals AS SELECT origin, SUM(delay) AS total FROM flights GROUP BY origin;
