-- error: WITH does not belong here; leave it out: a view has the rows that its query gives
-- at: WITH
CREATE MATERIALIZED VIEW v AS SELECT word FROM words WITH DATA;
SELECT * FROM v;
