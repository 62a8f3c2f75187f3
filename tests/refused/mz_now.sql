-- error: there is no function MZ_NOW; write a time column of the table, WHERE ts > ...: there is no clock in a query
-- at: mz_now()
SELECT origin FROM flights WHERE ts > mz_now();
