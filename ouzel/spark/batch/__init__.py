"""The query as a PySpark job that runs once, over all of its input or a part of it."""
