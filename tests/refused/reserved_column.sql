-- error: GROUP is a reserved word; as a name write "group"
-- at: group
SELECT group FROM words;
