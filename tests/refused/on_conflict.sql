-- error: ON does not belong here; leave it out: PRIMARY KEY (...) NOT ENFORCED in CREATE TABLE has rows replace those of their key
-- at: ON
INSERT INTO counts SELECT word, COUNT(*) FROM words GROUP BY word ON CONFLICT (word) DO NOTHING;
