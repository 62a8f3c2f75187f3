-- error: there is no operator &&; write EXISTS (SELECT 1 FROM UNNEST(array) AS u (element) WHERE element IN ('a', 'b'))
-- at: &&
SELECT id FROM flights WHERE tags && ARRAY['red', 'green'];
