-- error: there is no function TRY_CONVERT; write TRY_CAST(origin AS INT)
-- at: TRY_CONVERT(INT, origin)
SELECT TRY_CONVERT(INT, origin) FROM flights;
