-- error: GROUP without BY; write GROUP BY, or "GROUP" as a name
-- at: GROUP
SELECT word FROM words GROUP word;
