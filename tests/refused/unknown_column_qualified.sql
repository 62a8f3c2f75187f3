-- error: there is no column orign in f; did you mean origin?
-- at: orign
SELECT f.orign FROM flights AS f;
