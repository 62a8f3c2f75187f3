-- error: there is no grouping 'sideways'; write one of shuffle, fields, all, global, local, none, partial-key
-- at: 'words' = 'sideways'
SELECT /*+ GROUPING('words' = 'sideways') */ word FROM words;
