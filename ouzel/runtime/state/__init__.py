"""What operators keep: a key index, columns by slot, rows by slot."""
