-- error: CREATE STREAM is not supported: write CREATE VIEW big AS SELECT page FROM clicks
-- at: CREATE STREAM
CREATE STREAM big AS SELECT page FROM clicks EMIT CHANGES;
