-- error: a ) is missing before WITH; write ) behind the last column
-- at: WITH
CREATE TABLE clicks (
  user_id BIGINT,
  page VARCHAR
WITH ('connector' = 'kafka', 'topic' = 'clicks');
SELECT * FROM clicks;
