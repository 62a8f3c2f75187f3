-- error: there is no function TRY_TO_DATE; write TRY_CAST(REGEXP_REPLACE(origin, '^(\d{2})\.(\d{2})\.(\d{4})$', '$3-$2-$1') AS DATE)
-- at: TRY_TO_DATE(origin, 'DD.MM.YYYY')
SELECT TRY_TO_DATE(origin, 'DD.MM.YYYY') FROM flights;
