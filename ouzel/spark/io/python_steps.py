"""The user's Python functions in a PySpark job, record by record: the loop of the topology on Spark's batches."""

from __future__ import annotations

import pickle
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ouzel.errors import OuzelError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from ouzel.compiler.types import Schema
    from ouzel.runtime.operators.base import Operator

Batches = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def python_steps(text: str) -> Batches:
    """What `mapInArrow` calls: the functions that the text holds, as the job has them."""

    def compute(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ouzel.runtime.operators.rowwise.python_steps import PythonSteps

        operator = PythonSteps(pickle.loads(b64decode(text)))
        given, made = operator.node.input.schema, operator.node.schema
        for batch in batches:
            yield from process_batch(operator, given, made, batch)

    return compute


def python_total(text: str, result: str, values: Column) -> Column:
    """What the monoid that the text holds makes of each array of values; `result` is its type in Spark's DDL."""
    from pyspark.sql import functions as F

    def compute(lists: pa.Array) -> pa.Array:
        return total_lists(text, lists)

    called: Column = F.arrow_udf(compute, result, F.ArrowUDFType.SCALAR)(values)
    return called


def total_lists(text: str, lists: pa.Array) -> pa.Array:
    """In a worker: the total of each list.

    Raises:
        OuzelError: the type of totals cannot hold one: the job fails, as it does when a sum overflows.
    """
    import polars as pl
    import pyarrow as pa

    from ouzel.compiler.types import Field, Schema, from_arrow, to_polars
    from ouzel.exits import in_user_code
    from ouzel.runtime.operators.keyed.python_totals import blame_monoid, column_of_totals, from_storage
    from ouzel.spark.io.arrow import arrow_schema, record_batches

    monoid, kind = pickle.loads(b64decode(text)), from_arrow(lists.type.value_type)
    schema = Schema((Field("total", monoid.signature(kind).result),))
    groups = pl.Series(pl.from_arrow(lists)).cast(pl.List(to_polars(kind))).to_list()
    with in_user_code(), blame_monoid(monoid.name, monoid.advice):
        totals = [monoid.sum(from_storage(value, kind) for value in group) for group in groups]
    column, bad = column_of_totals(totals, schema["total"].type)
    if bad is not None:
        raise OuzelError(f"{monoid.name} gave {totals[bad.argmax()]!r}, which {schema['total'].type} does not hold")
    frame = column.alias("total").to_frame()
    return pa.concat_arrays([batch.column(0) for batch in record_batches(frame, arrow_schema(schema))])


def process_batch(operator: Operator, given: Schema, made: Schema, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch through an operator that takes the columns `given` and gives those `made`.

    Raises:
        OuzelError: a row cannot be computed, as a function has raised: the job fails, as it does when an expression fails.
    """
    import polars as pl
    import pyarrow as pa

    from ouzel.exits import in_user_code
    from ouzel.spark.io.arrow import arrow_schema, record_batches

    frame = pl.from_arrow(pa.Table.from_batches([batch]))
    assert isinstance(frame, pl.DataFrame)
    kinds = given.polars()
    with in_user_code():
        rows = operator.process(frame.cast({name: kinds[name] for name in frame.columns}))
    if operator.refused:
        first = operator.refused[0]
        raise OuzelError("\n".join(filter(None, [f"{first.reason}: {first.row}", first.detail])))
    if rows is not None:
        yield from record_batches(rows, arrow_schema(made))
