-- error: there is no column paid in flights; did you mean id, or the text 'paid', which stands in single quotes?
-- at: "paid"
SELECT id FROM flights WHERE origin = "paid";
