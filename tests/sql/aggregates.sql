SELECT COUNT(*), COUNT(delay), COUNT(DISTINCT carrier) AS carriers, SUM(fare), AVG(delay), MIN(DISTINCT ts), MAX(ts) FILTER (WHERE late AND delay > 3)
FROM flights;
