-- error: an array has no element -1: elements are counted from 1; write ELEMENT_AT(tags, -1) to count from the end
-- at: -1
SELECT tags[-1] AS last_tag FROM flights;
