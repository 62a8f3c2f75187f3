-- error: KEY in a CREATE TABLE is not supported; leave it out; the WITH of a Kafka table names the column that holds the record's key: 'key.field' = 'column'
-- at: KEY
CREATE TABLE pages (user_id VARCHAR KEY, page VARCHAR) WITH ('connector' = 'kafka');
SELECT * FROM pages;
