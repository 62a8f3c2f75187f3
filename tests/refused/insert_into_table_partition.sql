-- error: PARTITION does not belong here; write PARTITIONED BY (a, b) behind the columns of the CREATE TABLE, with the names of columns alone
-- at: PARTITION
INSERT INTO TABLE lines PARTITION (dt = '2013-01-01') SELECT word, n FROM words;
