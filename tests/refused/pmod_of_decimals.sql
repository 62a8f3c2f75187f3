-- error: PMOD does not take (DECIMAL(10, 2), INT); write MOD(MOD(fare, 2) + 2, 2)
-- at: PMOD(fare, 2)
SELECT PMOD(fare, 2) FROM flights;
