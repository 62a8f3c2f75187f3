-- error: a RIGHT JOIN as of a time is not supported; write JOIN or LEFT JOIN
-- at: f.origin = w.origin
SELECT f.id FROM flights AS f RIGHT JOIN flights FOR SYSTEM_TIME AS OF f.ts AS w ON f.origin = w.origin;
