-- error: EMIT AFTER WATERMARK needs a window: without one a group never ends; group by window_start and window_end of TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE); without a window a group changes with each of its rows: leave EMIT out
-- at: EMIT AFTER DELAY INTERVAL '5' SECOND AND AFTER WATERMARK
SELECT origin, COUNT(*) FROM flights GROUP BY origin EMIT AFTER DELAY INTERVAL '5' SECOND AND AFTER WATERMARK;
