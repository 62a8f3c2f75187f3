-- error: this ( is never closed; write ) where it ends
-- at: (
CREATE TABLE clicks (user_id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'clicks';
SELECT * FROM clicks;
