-- error: STRING_AGG takes VARCHAR, not BIGINT; write STRING_AGG(CAST(n AS VARCHAR), ', ')
-- at: STRING_AGG(n, ',')
SELECT STRING_AGG(n, ',') FROM words;
