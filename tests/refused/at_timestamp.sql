-- error: => does not belong here; a table has no former versions to read: choose rows by their time, WHERE ts <= TIMESTAMP '2013-01-31 00:00:00'
-- at: =>
SELECT id FROM flights AT (TIMESTAMP => '2024-01-01');
