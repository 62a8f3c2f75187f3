"""From SQL to a typed logical plan. No I/O."""
