-- error: ORDER is a reserved word; as a name write "order"
-- at: order
SELECT word AS order FROM words;
