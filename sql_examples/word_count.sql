-- The word count: how often was each word said over New York's loudspeakers in 2013?
--
--     ouzel run sql_examples/word_count.sql

CREATE TABLE announcements (
  line VARCHAR  -- United Air Lines Inc flight UA1545 from EWR to George Bush Intercontinental is on time
) WITH (
  'connector' = 'file',
  'path'      = 'data/announcements.txt',
  'format'    = 'raw'  -- every line is a record of one column
);

-- UNNEST makes one row of each word. There is no window, so there is no moment at which a count is final: EMIT CHANGES lets every change
-- out at once, as a row taken back and a row put in its place.
SELECT word, COUNT(*) AS occurrences
FROM announcements CROSS JOIN UNNEST(SPLIT(line, ' ')) AS words (word)
GROUP BY word
EMIT CHANGES;
