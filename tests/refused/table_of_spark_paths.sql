-- error: tables have no database or catalog; the path of a file stands in single quotes: 'data/flights.csv'
-- at: csv.`data/flights.csv`
SELECT * FROM csv.`data/flights.csv`;
