"""The user's Python functions in a PySpark job: called with whole columns, over Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ouzel.compiler.catalog import load_named
from ouzel.compiler.functions.python import FAILED, VALUE, PythonFunction, call_columns, call_rows
from ouzel.errors import OuzelError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column


def python_function(path: str, result: str, *columns: Column) -> Column:
    """A call, in Spark, of the function that an import path (`module:name`) names; `result` is its type in Spark's DDL.

    Raises:
        OuzelError: there is no such function.
    """
    function = load_python_function(path)
    return _rows_called(path, result, columns) if function.by_row else _columns_called(path, result, columns)


def _columns_called(path: str, result: str, columns: Sequence[Column]) -> Column:
    from pyspark.sql import functions as F

    def compute(*given: pa.Array) -> pa.Array:
        return compute_batch(path, given)

    called: Column = F.arrow_udf(compute, result, F.ArrowUDFType.SCALAR)(*columns)
    return called


def _rows_called(path: str, result: str, columns: Sequence[Column]) -> Column:
    """Spark calls Python for all rows, also for those that a CASE or an OR leaves out: a row fails where its value is read."""
    from pyspark.sql import functions as F

    answer = _columns_called(path, f"struct<{VALUE}: {result}, {FAILED}: string>", columns)
    problem = F.concat(F.lit(f"the function {path} "), answer[FAILED])
    return F.when(problem.isNotNull(), F.raise_error(problem)).otherwise(answer[VALUE])


def load_python_function(path: str) -> PythonFunction:
    """The function that an import path names.

    Raises:
        OuzelError: there is none, or it is no function of SQL's.
    """
    try:
        found = load_named(path)
    except (ImportError, AttributeError) as error:
        raise OuzelError(f"the job calls the function {path}, which cannot be imported here: {error}") from None
    if not isinstance(found, PythonFunction):
        raise OuzelError(f"{path} is no function that SQL may call; decorate it with ouzel.function")
    return found


def compute_batch(path: str, columns: tuple[Any, ...]) -> pa.Array:
    """In a worker: the function's answer for a batch; of one that is called row by row with what it raised."""
    import polars as pl

    from ouzel.compiler.types import to_polars

    function = load_python_function(path)
    signature = function.signature
    given = [
        pl.Series(pl.from_arrow(column)).cast(to_polars(kind))
        for column, kind in zip(columns, signature.parameters, strict=True)
    ]
    call = call_rows if function.by_row else call_columns
    return call(function.python, to_polars(signature.result), given).to_arrow(compat_level=pl.CompatLevel.oldest())
