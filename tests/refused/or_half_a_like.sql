-- error: BOOLEAN OR VARCHAR is not possible; write a whole condition behind OR: origin LIKE 'L%'
-- at: origin LIKE 'J%' OR 'L%'
SELECT id FROM flights WHERE origin LIKE 'J%' OR 'L%';
