-- error: ROW<tail VARCHAR, engine ROW<kind VARCHAR>> < ROW<tail VARCHAR, engine ROW<kind VARCHAR>> is not possible; compare their fields: (a.x, a.y) < (b.x, b.y)
-- at: plane < plane
SELECT id FROM flights WHERE plane < plane;
