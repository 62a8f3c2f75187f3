-- error: a parameter is not supported; write the value itself; a program that makes the text can put it there
-- at: %s
SELECT origin FROM flights WHERE origin = %s;
