-- error: a table has no former versions to read; choose rows by their time: WHERE ts <= TIMESTAMP '2013-01-31 00:00:00'
-- at: flights VERSION AS OF 3
SELECT id FROM flights VERSION AS OF 3;
