-- error: the hint LOOKUP is not supported; leave it out: how a table is asked stands in its WITH, as 'lookup.cache' = 'PARTIAL'
-- at: 'table' = 'f'
SELECT /*+ LOOKUP('table' = 'f') */ w.word FROM words AS w JOIN flights AS f ON w.word = f.origin;
