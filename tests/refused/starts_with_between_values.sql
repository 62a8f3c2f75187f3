-- error: STARTS WITH is not supported; write origin LIKE 'J%'
-- at: STARTS WITH
SELECT origin FROM flights WHERE origin STARTS WITH 'J';
