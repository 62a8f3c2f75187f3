-- error: VARCHAR + INTERVAL DAY TO SECOND is not possible; write CAST(carrier AS TIMESTAMP(3)) + INTERVAL '7' DAY
-- at: carrier + INTERVAL '7' DAY
SELECT carrier + INTERVAL '7' DAY AS due FROM flights;
