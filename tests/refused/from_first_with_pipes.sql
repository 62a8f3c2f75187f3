-- error: FROM at the beginning is not supported: write SELECT * FROM flights
-- at: FROM
FROM flights |> WHERE delay > 10;
