-- error: names do not stand in brackets; write flights
-- at: [flights]
SELECT origin FROM [flights];
