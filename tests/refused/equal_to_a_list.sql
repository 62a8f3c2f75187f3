-- error: a list of values in parentheses (only comparisons and IN take such lists) is not supported; write origin IN ('JFK', 'LGA')
-- at: 'JFK', 'LGA'
SELECT origin FROM flights WHERE origin = ('JFK', 'LGA');
