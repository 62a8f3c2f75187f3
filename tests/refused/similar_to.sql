-- error: the pattern '[[:alpha:]]+' of SIMILAR TO uses a class with a name, which is not supported; list the letters: [a-zA-Z0-9]; or write \[ for the sign itself
-- at: origin SIMILAR TO '[[:alpha:]]+'
SELECT id FROM flights WHERE origin SIMILAR TO '[[:alpha:]]+';
