-- error: INTERVAL DAY TO SECOND + INT is not possible; say what the number counts: write + INTERVAL '5' MINUTE
-- at: ts - ts + 5
SELECT ts - ts + 5 AS t FROM flights;
