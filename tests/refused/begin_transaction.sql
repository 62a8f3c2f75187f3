-- error: a transaction is not supported; leave BEGIN and COMMIT out
-- at: BEGIN TRANSACTION
BEGIN TRANSACTION; SELECT id FROM flights;
