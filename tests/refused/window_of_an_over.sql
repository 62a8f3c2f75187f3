-- error: v has no event time to cut into windows; rows of this OVER change as others come: order it by the event time ts ascending, or cut the windows below it
-- at: ts
CREATE VIEW v AS SELECT ts, RANK() OVER (ORDER BY delay) AS place FROM flights;
SELECT window_end, COUNT(*) AS n FROM TUMBLE(v, ts, INTERVAL '1' HOUR) GROUP BY window_end;
