-- error: COPY is not supported: a table reads its file itself: write CREATE TABLE t (...) WITH ('connector' = 'file', 'path' = 'x.csv', 'format' = 'csv')
-- at: COPY
COPY flights FROM 'x.csv' (HEADER);
