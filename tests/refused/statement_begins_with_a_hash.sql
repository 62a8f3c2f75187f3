-- error: # does not begin a statement; a comment begins with --
-- at: #
# all of them
SELECT id FROM flights;
