-- error: there is no function CONVERT; write CAST(carrier AS BIGINT)
-- at: CONVERT(carrier, SIGNED)
SELECT CONVERT(carrier, SIGNED) AS number FROM flights;
