-- error: a parameter is not supported; write the value itself; a program that makes the text can put it there
-- at: ?
SELECT id FROM flights WHERE delay > ?;
