-- error: IS is followed by something else; write origin <> 'JFK'
-- at: origin IS NOT 'JFK'
SELECT origin FROM flights WHERE origin IS NOT 'JFK';
