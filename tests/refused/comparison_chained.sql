-- error: BOOLEAN < INT is not possible; write 10 < delay AND delay < 20
-- at: 10 < delay < 20
SELECT origin FROM flights WHERE 10 < delay < 20;
