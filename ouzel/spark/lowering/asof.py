"""AsofJoin in PySpark: rows and versions of a key in one order, in which each row looks back for the last version."""

from __future__ import annotations

from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.plan import AsofJoin, JoinKind
from ouzel.compiler.sql.queries.scope import fresh
from ouzel.spark.lowering.text import call, comment, quote, select


def lower_asof(node: AsofJoin, left: str, right: str) -> list[str]:
    """The lines that follow the frame `left`, of which `right` holds the versions."""
    names = (*node.left.schema.names, *node.right.schema.names)
    is_row, version = quote(fresh("is_row", names)), quote(fresh("version", names))
    (time, at), keys = node.times, node.keys
    known = " & ".join(f"F.col({_name(name)}).isNotNull()" for name in (*(other for _, other in keys), at))
    renamed = [f"F.col({_name(other)}).alias({quote(one)})" for one, other in (*keys, (time, at))]
    versions = call(".select", [*renamed, f'F.struct("*").alias({version})', f"F.lit(0).alias({is_row})"])
    window = _window(node, is_row, version)
    return [
        left,
        comment(f"Each row with the last version of its key {'before it' if node.before else 'by then'}."),
        f".withColumn({is_row}, F.lit(1))",
        f".unionByName({right}.where({known}){versions}, allowMissingColumns=True)",
        f".withColumn({version}, F.last({version}, ignorenulls=True).over({window}))",
        f".where(F.col({is_row}) == 1)",
        *([f".where(F.col({version}).isNotNull())"] if node.kind is JoinKind.INNER else []),
        select([*map(_name, node.left.schema.names), quote(f"{version[1:-1]}.*")]),
    ]


def _window(node: AsofJoin, is_row: str, version: str) -> str:
    """Rows and versions of a key, in the order of time; of one time, versions stand before the row that sees them."""
    order = [_name(node.times[0]), f"F.col({is_row}).desc()" if node.before else is_row]
    order += [quote(f"{version[1:-1]}.{column_name(name)}") for name in node.ordering[1:]]
    return f"{call('Window.partitionBy', [_name(key) for key, _ in node.keys])}.orderBy({', '.join(order)})"


def _name(column: str) -> str:
    """A column's name as a string that Spark reads as this name and nothing else."""
    return quote(column_name(column))
