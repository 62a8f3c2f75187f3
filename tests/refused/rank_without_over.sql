-- error: ROW_NUMBER is of a row among others, and lacks its OVER; write ROW_NUMBER(...) OVER (ORDER BY column)
-- at: ROW_NUMBER()
SELECT id, ROW_NUMBER() AS place FROM flights;
