"""What is kept of a run while it runs, and of a live run when it is asked for."""
