-- error: which of IN and = comes first is not said; write (delay IN (1, 2)) in parentheses
-- at: late = delay IN (1, 2)
SELECT id FROM flights WHERE late = delay IN (1, 2);
