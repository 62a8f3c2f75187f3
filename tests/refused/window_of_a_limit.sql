-- error: v has no event time to cut into windows; the first rows change as others come: cut the windows of ts below
-- at: ts
CREATE VIEW v AS SELECT id, ts FROM flights ORDER BY id LIMIT 5;
SELECT window_end, COUNT(*) AS n FROM TUMBLE(v, ts, INTERVAL '1' HOUR) GROUP BY window_end;
