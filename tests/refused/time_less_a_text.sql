-- error: TIMESTAMP(6) - VARCHAR is not possible; write TIMESTAMP '2013-02-01 00:00:00' - INTERVAL '1 day'
-- at: TIMESTAMP '2013-02-01 00:00:00' - '1 day'
SELECT id FROM flights WHERE ts > TIMESTAMP '2013-02-01 00:00:00' - '1 day';
