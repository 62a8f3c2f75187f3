-- error: there is no column twice in flights; twice is an alias of the select list, which WHERE does not see: write delay * 2
-- at: twice
SELECT delay * 2 AS twice FROM flights WHERE twice > 10;
