-- error: 10 does not belong here; a part of the rows is not chosen by chance: write a condition such as MOD(id, 10) = 0
-- at: 10
SELECT origin FROM flights SAMPLE 10 PERCENT;
