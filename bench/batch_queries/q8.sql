SELECT p.id, name, p.starts AS starttime
FROM (SELECT DISTINCT id, name, window(dateTime, '10 seconds').start AS starts FROM person) AS p
JOIN (SELECT DISTINCT seller, window(dateTime, '10 seconds').start AS starts FROM auction) AS a ON p.id = seller AND p.starts = a.starts
