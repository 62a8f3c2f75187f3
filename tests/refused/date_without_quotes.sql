-- error: TIMESTAMP(6) >= INT is not possible; write a time: TIMESTAMP '2013-06-01 00:00:00'
-- at: ts >= 2013-06-01
SELECT origin FROM flights WHERE ts >= 2013-06-01;
