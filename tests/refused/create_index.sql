-- error: CREATE INDEX is not supported: nothing is looked up in a stream; leave it out
-- at: CREATE INDEX
CREATE INDEX i ON words (word);
