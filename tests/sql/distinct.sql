SELECT DISTINCT origin, UPPER(carrier) AS airline FROM flights;
