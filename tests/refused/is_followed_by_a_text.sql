-- error: IS is followed by something else; write origin = 'JFK'
-- at: origin IS 'JFK'
SELECT origin FROM flights WHERE origin IS 'JFK';
