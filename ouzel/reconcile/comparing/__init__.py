"""Two answers brought into one form, cut alike, compared and paired."""
