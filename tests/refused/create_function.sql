-- error: CREATE FUNCTION is not supported: write it in Python with ouzel.function, and run the query from Python
-- at: CREATE FUNCTION
CREATE FUNCTION f AS 'a.b';
