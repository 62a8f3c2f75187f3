-- error: there is no function STR_TO_DATE; write TO_DATE(origin, 'dd/MM/yyyy')
-- at: STR_TO_DATE(origin, '%d/%m/%Y')
SELECT STR_TO_DATE(origin, '%d/%m/%Y') AS day FROM flights;
