"""The command line: `ouzel run`, `ouzel explain`. It knows sessions, handles and terminals; how a topology runs is below it."""
