-- error: WINDOW names w twice; give one of them another name
-- at: w
SELECT COUNT(*) OVER w AS n FROM flights WINDOW w AS (PARTITION BY origin), w AS (PARTITION BY carrier);
