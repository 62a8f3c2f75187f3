-- error: the table name flights is given more than once in this FROM; write flights AS flights2
-- at: flights
SELECT 1 AS one FROM words, flights, flights;
