-- error: STATE_TTL('a' = '1d') bounds one input of this JOIN, and the other would grow for ever; name the other too: STATE_TTL('a' = '1d', ... = '1d')
-- at: 'a' = '1d'
SELECT /*+ STATE_TTL('a' = '1d') */ a.id FROM flights AS a JOIN flights AS b ON a.id = b.id;
