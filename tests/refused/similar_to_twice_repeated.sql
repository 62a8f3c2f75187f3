-- error: the pattern 'J+*' of SIMILAR TO is malformed: * follows another repetition; write % _ | * + ? {2,3} ( ) [a-z], and the escape \ before what means itself
-- at: origin SIMILAR TO 'J+*'
SELECT id FROM flights WHERE origin SIMILAR TO 'J+*';
