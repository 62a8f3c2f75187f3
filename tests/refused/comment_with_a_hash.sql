-- error: # does not belong here; a comment begins with --, or stands between /* and */
-- at: #
SELECT id FROM flights
# all of them
WHERE delay > 1;
