-- error: a parameter is not supported; write the value itself; a program that makes the text can put it there
-- at: $1
SELECT origin FROM flights WHERE origin = $1;
