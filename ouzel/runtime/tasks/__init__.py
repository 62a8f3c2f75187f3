"""What one task does: read a source, push batches through a chain, write a sink, or run an engineer's spout or bolt."""
