-- error: STOP JOB is not supported: Ctrl-C ends `ouzel run` when what was read is written
-- at: STOP JOB
STOP JOB 'flights';
