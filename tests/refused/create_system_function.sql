-- error: CREATE FUNCTION is not supported: write it in Python with ouzel.function, and run the query from Python
-- at: CREATE TEMPORARY SYSTEM FUNCTION
CREATE TEMPORARY SYSTEM FUNCTION f AS 'a.b';
