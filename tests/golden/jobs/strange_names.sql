CREATE TABLE "my table" ("a b" INT, "class" VARCHAR, "it's ""x""" VARCHAR, "{n}" INT)
WITH ('connector' = 'file', 'path' = 'it''s {here} "now".json', 'format' = 'json');

-- """ nothing ends here
SELECT "class", "it's ""x""" AS "c.d", SUM("a b" * "{n}") AS "sum" FROM "my table" GROUP BY "class", "it's ""x""";
