-- error: JSON_VALUE does not take (ROW<tail VARCHAR, engine ROW<kind VARCHAR>>, VARCHAR); plane is a ROW, and no JSON text: write plane.tail
-- at: JSON_VALUE(plane, '$.tail')
SELECT JSON_VALUE(plane, '$.tail') FROM flights;
