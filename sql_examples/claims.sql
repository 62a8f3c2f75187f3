-- Real input has bad records. Here they do not stop the query and are not lost in silence: they go to a file, with where they were and why.
--
--     ouzel run sql_examples/claims.sql
--     cat sql_examples/data/bad_claims.jsonl

CREATE TABLE claims (
  claim     INT NOT NULL,
  filed     TIMESTAMP(3),
  origin    VARCHAR,
  amount    DECIMAL(10, 2),  -- dollars, exact
  WATERMARK FOR filed AS filed
) WITH (
  'connector'        = 'file',
  'path'             = 'claims.csv',
  'format'           = 'csv',
  'bad.record'       = 'dead-letter',  -- or 'skip', which only counts them, or 'fail', the default
  'dead-letter.path' = 'data/bad_claims.jsonl'
);

SELECT window_start, origin, COUNT(claim) AS claims, SUM(amount) AS dollars
FROM TABLE(TUMBLE(TABLE claims, DESCRIPTOR(filed), INTERVAL '1' DAY))
GROUP BY window_start, window_end, origin
EMIT AFTER WATERMARK;
