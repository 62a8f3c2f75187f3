-- error: EMIT AFTER DELAY AND AFTER WATERMARK of what is no aggregate by windows is not supported; write one of them
-- at: EMIT AFTER DELAY INTERVAL '1' SECOND AND AFTER WATERMARK
SELECT a.id FROM flights AS a JOIN flights AS b ON a.id = b.id AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts EMIT AFTER DELAY INTERVAL '1' SECOND AND AFTER WATERMARK;
