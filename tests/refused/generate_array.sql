-- error: there is no function GENERATE_ARRAY; write SEQUENCE(1, 3)
-- at: GENERATE_ARRAY(1, 3)
SELECT n FROM UNNEST(GENERATE_ARRAY(1, 3)) AS u (n);
