-- error: ALTER is not supported: change the CREATE TABLE
-- at: ALTER
ALTER TABLE words ADD length INT;
