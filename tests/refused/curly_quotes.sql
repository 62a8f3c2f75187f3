-- error: ‘ is no quote; write straight quotes: 'New York'
-- at: ‘New York’
SELECT id FROM flights WHERE origin = ‘New York’;
