-- error: the view busy reads itself; read the table that it is made of, or give the view another name
-- at: busy
CREATE VIEW busy AS SELECT origin FROM busy WHERE n > 10;
SELECT * FROM busy;
