-- error: WHERE needs a BOOLEAN, this is INT; write a comparison
-- at: delay
SELECT id FROM flights WHERE delay;
