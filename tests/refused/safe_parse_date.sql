-- error: a call cannot follow a dot; write TRY_CAST(REGEXP_REPLACE(origin, '^(\d{2})/(\d{2})/(\d{4})$', '$3-$1-$2') AS DATE)
-- at: PARSE_DATE('%m/%d/%Y', origin)
SELECT SAFE.PARSE_DATE('%m/%d/%Y', origin) FROM flights;
