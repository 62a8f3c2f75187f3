-- error: a table has no former versions to read; choose rows by their time: WHERE ts <= TIMESTAMP '2013-01-31 00:00:00'
-- at: flights TIMESTAMP AS OF '2024-01-01'
SELECT id FROM flights TIMESTAMP AS OF '2024-01-01';
