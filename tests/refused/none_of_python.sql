-- error: there is no column None in flights; write NULL, and IS NULL to compare with it
-- at: None
SELECT origin FROM flights WHERE origin = None;
