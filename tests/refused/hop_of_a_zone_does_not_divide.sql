-- error: a hop of INTERVAL '2' DAY does not divide its window of INTERVAL '5' DAY; write HOP with a slide of INTERVAL '1' DAY, or use TUMBLE
-- at: HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '2' DAY, INTERVAL '5' DAY, 'Europe/Berlin')
SELECT window_end FROM HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '2' DAY, INTERVAL '5' DAY, 'Europe/Berlin');
