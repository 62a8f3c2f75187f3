-- error: VARCHAR = INT is not possible; origin is VARCHAR: write '3' to compare texts, or CAST(origin AS INT) to compare numbers
-- at: origin = 3
SELECT id FROM flights WHERE origin = 3;
