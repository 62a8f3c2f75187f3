-- error: STOP JOB is not supported; end `ouzel run` with Ctrl-C, which writes what was read
-- at: STOP JOB
STOP JOB 'flights';
