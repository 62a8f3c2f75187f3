-- error: VARCHAR + INT is not possible; write DATE '2024-01-15' + INTERVAL '7' DAY
-- at: '2024-01-15' + 7
SELECT id FROM flights WHERE ts > '2024-01-15' + 7;
