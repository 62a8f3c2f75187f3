-- error: an array has no element 0: elements are counted from 1; write tags[1]
-- at: 0
SELECT tags[0] AS first_tag FROM flights;
