"""The I/O shells around the state machines: one module for each kind of process."""
