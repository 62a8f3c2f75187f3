-- Both have a column `origin`; neither is lost.
SELECT flights.origin AS here, u.origin AS there, * FROM flights, UNNEST(tags) AS u (origin);
