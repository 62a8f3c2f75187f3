-- The word count of the papers, from a Kafka topic.
--
--     make word-count-kafka        # starts a broker on a port of its own, fills it, runs, compares with a batch job, and stops it

CREATE TABLE announcements (
  line VARCHAR
) WITH (
  'connector'         = 'kafka',
  'bootstrap.servers' = '127.0.0.1:9092',
  'topic'             = 'announcements',
  'format'            = 'raw',
  'start'             = 'earliest',
  'end'               = 'latest'  -- without it the topology runs for ever
);

SELECT word, COUNT(*) AS occurrences
FROM announcements CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word)
GROUP BY word
EMIT CHANGES;
