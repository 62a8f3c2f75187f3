-- error: nothing opens this ); leave it out, or write ( where it opens
-- at: )
SELECT id FROM flights WHERE delay > 1);
