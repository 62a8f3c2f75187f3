"""What each statement means: tables, sinks, and what is asked about them. One file a form of statement."""
