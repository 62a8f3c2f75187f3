-- error: STATE_TTL of w is not supported: it has no event time; declare a WATERMARK in its CREATE TABLE, or leave the hint out
-- at: words AS w ON w.word = a.origin
SELECT /*+ STATE_TTL('a' = '1d', 'w' = '1 h') */ a.id FROM flights AS a JOIN words AS w ON w.word = a.origin;
