-- error: VARCHAR - INT is not possible; write TIMESTAMP '2024-01-15 10:00:00' - delay * INTERVAL '1' DAY
-- at: '2024-01-15 10:00:00' - delay
SELECT id FROM flights WHERE ts > '2024-01-15 10:00:00' - delay;
