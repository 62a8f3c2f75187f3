"""From a logical plan to a topology, a packing plan, and a PySpark job. No I/O."""
