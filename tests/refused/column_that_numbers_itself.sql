-- error: AUTOINCREMENT in a CREATE TABLE is not supported; leave it out: nothing numbers rows here; take the key from the data
-- at: AUTOINCREMENT
CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT) WITH ('connector' = 'print');
