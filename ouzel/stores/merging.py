"""Totals added up by the query that says so, on whichever engine: a store's next version, and a hybrid table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from ouzel.compiler.sql.statements.ddl import column_texts, name_text, table_text, type_text
from ouzel.compiler.types import Schema
from ouzel.connectors.file import CONNECTOR as FILES
from ouzel.job import Job, load_text
from ouzel.stores.columns import StoreColumns

Answering = Callable[[Job], pl.DataFrame]
"""What answers a query that ends."""


def answer_here(job: Job) -> pl.DataFrame:
    """The answer, computed in this process."""
    from ouzel.entry import table

    return table(job, "memory")


def file_options(path: str | Path) -> dict[str, str]:
    """The options of a table of Parquet."""
    return {"connector": FILES.name, "path": str(path), "format": "parquet"}


def merged_select(columns: StoreColumns, parts: Sequence[str]) -> str:
    """The query that adds up the totals of parts, each of which is what may stand behind FROM."""
    keys, names = [name_text(field.name) for field in columns.keys], list(map(name_text, columns.totals.names))
    sums = [
        f"CAST({one.merged_by.upper()}({name_text(one.name)}) AS {type_text(one.type)}) AS {name_text(one.name)}"
        for one in columns.values
    ]
    rows = " UNION ALL ".join(f"SELECT {', '.join(names)} FROM {part}" for part in parts)
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, *sums])} FROM ({rows}) AS parts{grouped}"


def merge_files(columns: StoreColumns, files: Mapping[Path, Schema], answer: Answering) -> pl.DataFrame:
    """What the totals in Parquet files add up to; the files may have more columns.

    Raises:
        OuzelError: a file cannot be read, or a total does not fit its type.
    """
    if not files:
        return pl.DataFrame(schema=columns.totals.polars())
    made = {f"part_{number}": path for number, path in enumerate(files)}
    tables = [
        table_text(name, column_texts(files[path]), file_options(path)).replace("\n", " ")
        for name, path in made.items()
    ]
    text = ";\n".join([*tables, merged_select(columns, list(made))])
    found = answer(load_text(text, Path.cwd(), "merged_totals"))
    return found.select(columns.totals.names).cast(columns.totals.polars())  # type: ignore[arg-type]
