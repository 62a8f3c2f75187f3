CREATE TABLE claims (claim INT NOT NULL, filed TIMESTAMP(3), amount DECIMAL(10, 2), kind VARCHAR)
WITH (
  'connector' = 'file', 'path' = 's3a://lake/claims/*.csv', 'format' = 'csv',
  'csv.delimiter' = ';', 'csv.quote' = '''', 'csv.null' = 'NA'
);
CREATE TABLE totals (kind VARCHAR, amount DECIMAL(38, 2)) WITH ('connector' = 'file', 'path' = 'totals.csv', 'format' = 'csv', 'changelog' = 'true');

INSERT INTO totals SELECT kind, SUM(amount) FROM claims GROUP BY kind;
