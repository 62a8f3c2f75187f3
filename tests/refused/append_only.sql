-- error: APPEND does not belong here; leave it out: of any table that is written EXPLAIN says whether rows are taken back
-- at: APPEND
CREATE TABLE only_new (n INT) APPEND ONLY WITH ('connector' = 'print');
