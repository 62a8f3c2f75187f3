-- The word count of the papers, from a Kestrel queue.
--
--     make word-count-kestrel      # starts a server on a port of its own, fills it, runs, compares with a batch job, and stops it

CREATE TABLE announcements (
  line VARCHAR
) WITH (
  'connector'  = 'kestrel',
  'servers'    = '127.0.0.1:22133',
  'queue'      = 'announcements',
  'format'     = 'raw',
  'end'        = 'empty',  -- without it the topology runs for ever
  'items.path' = 'items'   -- what was handled is kept there: a queue gives nothing twice, and the batch job reads that
);

SELECT word, COUNT(*) AS occurrences
FROM announcements CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word)
GROUP BY word
EMIT CHANGES;
