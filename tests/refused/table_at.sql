-- error: AT does not belong here; write an operator or a comma between f and AT
-- at: AT
SELECT f.id FROM flights AS f AT w;
