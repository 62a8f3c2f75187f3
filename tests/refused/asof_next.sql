-- error: the next row, as b.ts after a.ts, is not supported; ask for the latest: a.ts >= b.ts
-- at: a.origin = b.origin AND a.ts <= b.ts
SELECT a.id FROM flights AS a ASOF JOIN flights AS b ON a.origin = b.origin AND a.ts <= b.ts;
