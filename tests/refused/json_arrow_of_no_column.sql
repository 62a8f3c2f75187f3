-- error: there is no column payload in flights; there are id, ts, origin, carrier, delay, distance, fare, late, tags, legs, notes, plane
-- at: payload
SELECT payload->>'page' FROM flights;
