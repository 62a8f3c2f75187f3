-- error: there is no column JFK in flights; a text stands in single quotes: 'JFK'
-- at: "JFK"
SELECT id FROM flights WHERE origin = "JFK";
