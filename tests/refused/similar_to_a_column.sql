-- error: argument 2 of SIMILAR TO must be a literal, not carrier; write the constant itself
-- at: origin SIMILAR TO carrier
SELECT id FROM flights WHERE origin SIMILAR TO carrier;
