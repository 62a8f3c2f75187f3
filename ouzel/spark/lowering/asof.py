"""AsofJoin in PySpark: rows and versions of a key in one order, in which each row looks back for the last version."""

from __future__ import annotations

from ouzel.compiler.functions.lowering import backtick
from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.plan import AsofJoin, JoinKind
from ouzel.spark.lowering.text import call, comment, quote, select

IS_ROW, VERSION = "$is_row", "$version"
"""Columns that exist between two steps: whether it is a row of the left (1, else 0), and the columns of the right."""


def lower_asof(node: AsofJoin, left: str, right: str) -> list[str]:
    """The lines that follow the frame `left`, of which `right` holds the versions."""
    (time, at), keys = node.times, node.keys
    known = " & ".join(f"F.col({quote(column_name(name))}).isNotNull()" for name in (*(other for _, other in keys), at))
    renamed = [f"F.col({quote(column_name(other))}).alias({quote(one)})" for one, other in (*keys, (time, at))]
    versions = call(".select", [*renamed, f'F.struct("*").alias({quote(VERSION)})', f"F.lit(0).alias({quote(IS_ROW)})"])
    by = ", ".join(backtick(one) for one, _ in keys)
    order = [backtick(time), backtick(IS_ROW) + " DESC" * node.before]
    order += [f"{backtick(VERSION)}.{backtick(name)}" for name in node.ordering[1:]]
    over = f"{f'PARTITION BY {by} ' if by else ''}ORDER BY {', '.join(order)}"
    fields = [
        f"F.col({quote(VERSION)}).getField({quote(name)}).alias({quote(name)})" for name in node.right.schema.names
    ]
    dropped = [f".where(F.col({quote(VERSION)}).isNotNull())"] if node.kind is JoinKind.INNER else []
    return [
        left,
        comment(f"Each row with the last version of its key {'before it' if node.before else 'by then'}."),
        f".withColumn({quote(IS_ROW)}, F.lit(1))",
        f".unionByName({right}.where({known}){versions}, allowMissingColumns=True)",
        f".withColumn({quote(VERSION)}, F.expr({quote(f'last({backtick(VERSION)}, true) OVER ({over})')}))",
        f".where(F.col({quote(IS_ROW)}) == 1)",
        *dropped,
        select([*(quote(column_name(name)) for name in node.left.schema.names), *fields]),
    ]
