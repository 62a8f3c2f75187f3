-- error: AS is missing after this
-- at: x
WITH x (SELECT id FROM flights) SELECT id FROM x;
