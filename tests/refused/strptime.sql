-- error: there is no function STRPTIME; write TO_TIMESTAMP(origin, 'yyyy-MM-dd''T''HH:mm:ss')
-- at: STRPTIME(origin, '%Y-%m-%dT%H:%M:%S')
SELECT STRPTIME(origin, '%Y-%m-%dT%H:%M:%S') AS time FROM flights;
