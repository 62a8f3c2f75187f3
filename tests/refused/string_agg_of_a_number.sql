-- error: STRING_AGG takes VARCHAR, not BIGINT; write STRING_AGG(value [, ', '] [ORDER BY key]) of CAST(value AS VARCHAR)
-- at: STRING_AGG(n, ',')
SELECT STRING_AGG(n, ',') FROM words;
