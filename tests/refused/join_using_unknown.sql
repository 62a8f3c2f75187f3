-- error: there is no column orign in f for USING; did you mean origin?
-- at: orign
SELECT f.id FROM flights AS f JOIN flights AS g USING (orign);
