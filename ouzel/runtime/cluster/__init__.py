"""Where a topology runs: schedulers, and the state manager that outlives processes."""
