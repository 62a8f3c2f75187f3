-- error: IS is followed by something else; write CARDINALITY(SPLIT(origin, ',')) = 0, or SPLIT(origin, ',') = '' of a text
-- at: SPLIT(origin, ',') IS EMPTY
SELECT origin FROM flights WHERE SPLIT(origin, ',') IS EMPTY;
