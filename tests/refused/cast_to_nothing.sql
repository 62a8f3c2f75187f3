-- error: something is missing after ::
-- at: ::
SELECT id :: ;
