-- error: a parameter is not supported; write the value itself; a program that makes the text can put it there
-- at: @origin
SELECT origin FROM flights WHERE origin = @origin;
