-- error: PARTITION does not belong here; leave it out: a sink's folder is not cut by columns
-- at: PARTITION
INSERT INTO TABLE lines PARTITION (dt = '2013-01-01') SELECT word, n FROM words;
