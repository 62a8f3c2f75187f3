-- error: a transaction is not supported; leave BEGIN and COMMIT out
-- at: BEGIN
BEGIN; SELECT id FROM flights; COMMIT;
