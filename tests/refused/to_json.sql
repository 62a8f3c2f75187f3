-- error: there is no function TO_JSON; write the value itself: a table with 'format' = 'json' writes ROWs, ARRAYs and MAPs as JSON
-- at: TO_JSON(plane)
SELECT TO_JSON(plane) FROM flights;
