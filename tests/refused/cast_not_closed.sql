-- error: a ) is missing
-- at: AS
SELECT CAST(fare AS DECIMAL(10, 2) AS cents, CAST(fare AS DECIMAL(20, 6)) AS wide FROM flights;
