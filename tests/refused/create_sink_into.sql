-- error: CREATE SINK is not supported: write INSERT INTO lines SELECT * FROM counts
-- at: CREATE SINK
CREATE SINK out INTO lines FROM counts;
