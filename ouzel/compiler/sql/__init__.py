"""SQL: a file of statements becomes a typed logical plan.

The way of a text: `syntax` cuts it into tokens and statements, reads each statement's shell by a grammar and each query by sqlglot's
parser; `statements` says what a statement means; `queries` and `expressions` bind queries to relations of the plan; `program` puts them
together.
"""

from ouzel.compiler.sql.program import compile_sql

__all__ = ["compile_sql"]
