-- error: there is no function TRY_TO_TIMESTAMP; write TRY_CAST(origin AS TIMESTAMP)
-- at: TRY_TO_TIMESTAMP(origin)
SELECT TRY_TO_TIMESTAMP(origin) FROM flights;
