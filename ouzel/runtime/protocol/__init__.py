"""State machines without I/O or clock: messages and times in, instructions out."""
