-- error: WITH NO DATA is not supported; leave it out: a view has the rows that its query gives
-- at: WITH NO DATA
CREATE MATERIALIZED VIEW v AS SELECT word FROM words WITH NO DATA;
SELECT * FROM v;
