-- error: UNION puts 2 columns above 1; select as many in both
-- at: origin FROM flights
SELECT word, n FROM words UNION ALL SELECT origin FROM flights;
