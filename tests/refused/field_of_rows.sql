-- error: legs is ARRAY<ROW<airport VARCHAR, minutes INT>> and has no field airport; write legs[1].airport
-- at: airport
SELECT legs.airport FROM flights;
