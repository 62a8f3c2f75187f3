-- error: argument 2 of RLIKE must be a literal, not origin || '.'; write the constant itself
-- at: REGEXP_LIKE(carrier, origin || '.')
SELECT REGEXP_LIKE(carrier, origin || '.') FROM flights;
