-- error: ts does not belong here; a watermark is declared in CREATE TABLE: write WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE among the columns
-- at: ts
SELECT origin, COUNT(*) AS n FROM flights WATERMARK ts DELAY OF INTERVAL 10 MINUTES GROUP BY origin;
