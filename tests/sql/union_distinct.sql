SELECT origin FROM flights UNION SELECT word FROM words;
