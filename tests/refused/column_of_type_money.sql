-- error: the type MONEY is not supported; write DECIMAL(18, 2)
-- at: money
SELECT delay::money FROM flights;
