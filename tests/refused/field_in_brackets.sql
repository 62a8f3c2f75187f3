-- error: plane is a ROW, and brackets are of an ARRAY or a MAP; write plane.tail
-- at: 'tail'
SELECT plane['tail'] FROM flights;
