"""Frames between processes: a protobuf header and an Arrow body."""
