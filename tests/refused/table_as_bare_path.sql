-- error: tables have no database or catalog; the path of a file stands in single quotes: 'flights2.csv'
-- at: flights2.csv
SELECT * FROM flights2.csv;
