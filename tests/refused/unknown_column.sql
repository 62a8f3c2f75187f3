-- error: there is no column orign in flights; did you mean origin?
-- at: orign
SELECT orign FROM flights;
