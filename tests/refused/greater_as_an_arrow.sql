-- error: => does not belong here; write >= to compare
-- at: =>
SELECT origin FROM flights WHERE delay => 10;
