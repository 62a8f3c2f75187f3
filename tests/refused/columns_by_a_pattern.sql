-- error: there is no function COLUMNS; write the columns one by one: AVG(a) AS a, AVG(b) AS b
-- at: COLUMNS('.*delay')
SELECT AVG(COLUMNS('.*delay')) FROM flights;
