-- error: nothing reads the materialized view v; add SELECT * FROM v: `ouzel submit` keeps its rows, and `ouzel results` shows them; or INSERT INTO a table
-- at: v
CREATE MATERIALIZED VIEW v AS SELECT word FROM words;
