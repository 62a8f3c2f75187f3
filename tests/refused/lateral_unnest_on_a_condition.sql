-- error: ON another condition than TRUE is not supported here; write LEFT JOIN UNNEST(array) AS u (x) ON the condition
-- at: tag = origin
SELECT id, tag FROM flights AS f LEFT JOIN LATERAL (SELECT tag FROM UNNEST(f.tags) AS u (tag)) AS t ON tag = origin;
