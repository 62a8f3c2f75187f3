-- error: QUALIFY chooses by a call with OVER, and here is none; write WHERE, or HAVING after GROUP BY
-- at: id > 2
SELECT id FROM flights QUALIFY id > 2;
