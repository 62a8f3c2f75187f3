-- error: INT = VARCHAR is not possible; a number stands without quotes: write 15
-- at: delay = '15'
SELECT origin FROM flights WHERE delay = '15';
