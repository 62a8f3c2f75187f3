-- error: there is no table plane in FROM; plane is a ROW, whose fields stand one by one: write plane.tail, plane.engine
-- at: plane
SELECT plane.* FROM flights;
