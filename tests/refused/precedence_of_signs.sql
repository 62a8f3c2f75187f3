-- error: which of + and || comes first is not said; write (delay + 1) in parentheses
-- at: origin || delay + 1
SELECT origin || delay + 1 AS x FROM flights;
