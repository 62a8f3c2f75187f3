-- error: CREATE FUNCTION is not supported yet: only the built-in functions can be called
-- at: CREATE FUNCTION
CREATE FUNCTION f AS 'a.b';
