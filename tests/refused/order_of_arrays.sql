-- error: ARRAY<VARCHAR> < ARRAY<VARCHAR> is not possible; compare their elements: (a[1], a[2]) < (b[1], b[2])
-- at: tags < tags
SELECT id FROM flights WHERE tags < tags;
