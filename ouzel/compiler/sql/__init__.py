"""SQL: a file of statements becomes a typed logical plan.

The way of a text: `source` cuts it into tokens and statements; `shells` reads each statement's shell by the grammar `statements.lark`;
`rewrite` and `queries` bring queries and expressions to sqlglot's parser; `select`, `aggregation`, `windows`, `unnest` and `binder`
resolve names and types; `tables` and `sinks` are the ends of the plan; `program` puts them together.
"""

from ouzel.compiler.sql.program import compile_sql

__all__ = ["compile_sql"]
