"""The former name of `ouzel.spark`, which PySpark programs that were written to a file before import."""

from ouzel.spark import BadRecords, python_function, read_table, write_table

__all__ = ["BadRecords", "python_function", "read_table", "write_table"]
