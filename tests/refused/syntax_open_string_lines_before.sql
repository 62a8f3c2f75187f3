-- error: ' is opened here and not closed on its line, and further on there is one too many; write ' where it ends
-- at: '
SELECT id FROM flights WHERE origin = 'LGA OR dest = origin
AND carrier = 'UA';
