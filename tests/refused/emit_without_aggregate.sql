-- error: EMIT AFTER WATERMARK has nothing to hold back: nothing in this query waits for a watermark; remove it, or join within a span of time, or aggregate by windows
-- at: EMIT AFTER WATERMARK
SELECT origin FROM flights EMIT AFTER WATERMARK;
