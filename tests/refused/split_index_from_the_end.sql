-- error: SPLIT_INDEX counts pieces from 0, and has none of number -1; write ELEMENT_AT(SPLIT(origin, ','), -1) to count from the end
-- at: SPLIT_INDEX(origin, ',', -1)
SELECT SPLIT_INDEX(origin, ',', -1) FROM flights;
