-- error: a table has no former versions to read; choose rows by their time: WHERE ts <= TIMESTAMP '2013-01-31 00:00:00'
-- at: flights FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'
SELECT id FROM flights FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00';
