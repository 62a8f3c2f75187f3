-- error: CREATE MATERIALIZED VIEW is not supported: write CREATE VIEW, and INSERT INTO to keep its result
-- at: CREATE MATERIALIZED
CREATE MATERIALIZED VIEW v AS SELECT word FROM words;
