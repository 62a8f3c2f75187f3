-- error: ARRAY<VARCHAR> || VARCHAR is not possible; write ARRAY_APPEND(SPLIT(origin, ','), 'a')
-- at: SPLIT(origin, ',') || 'a'
SELECT SPLIT(origin, ',') || 'a' FROM flights;
