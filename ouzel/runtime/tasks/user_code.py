"""What an engineer's spout or bolt may do wrong, in one sentence: where it failed, and what it emitted that it had not declared."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import polars as pl

from ouzel.callers import NOT_THEIRS, OURS, without_our_calls
from ouzel.compiler.types import Schema
from ouzel.compiler.user_code import FAILURES, calls_of, describe_raised
from ouzel.errors import OuzelError, TopologyError
from ouzel.exits import Death
from ouzel.planner.topology import Component, Task
from ouzel.runtime.tasks.mistakes import advise_of_mistake, in_their_words

_KINDS = (lambda kind: kind.is_integer(), lambda kind: kind.is_float(), lambda kind: isinstance(kind, pl.Datetime))
"""Families of types within which a column is cast unasked; a value that does not fit fails."""


class Misfit(Exception):
    """What a spout or bolt emits is not what it declares; and what to write instead."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(problem)
        self.problem, self.instead = problem, instead


@contextmanager
def blame_component(task: Task) -> Iterator[None]:
    """Inside, what the engineer's code raises becomes a TopologyError that names the component, the error and the line."""
    try:
        yield
    except Misfit as error:
        advice = f"; {error.instead}" if error.instead else ""
        raise TopologyError(f"'{task.component}' (task {task.id}) {error.problem}{_place(error)}{advice}") from None
    except (OuzelError, Death):
        raise
    except FAILURES as error:
        if not calls_of(error)[-1].filename.startswith(OURS):  # else the message says all
            traceback.print_exception(type(error), error, without_our_calls(error.__traceback__))
        told, instead = in_their_words(describe_raised(error)), advise_of_mistake(error)
        advice = f"; {instead}" if instead else ""
        raise TopologyError(f"'{task.component}' (task {task.id}) failed: {told}{_place(error)}{advice}") from error


def _place(error: BaseException) -> str:
    frames = [frame for frame in calls_of(error) if not frame.filename.startswith(NOT_THEIRS)]
    return f" (in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def schemas(component: Component) -> dict[str, Schema]:
    """What the component declares, by stream."""
    return {output.stream: output.schema for output in component.outputs}


_FRAMES = {
    "Batch": "write collector.emit(batch.frame, anchors=(batch,))",
    "LazyFrame": "write frame.collect()",
    "Series": "write series.to_frame('name')",
    "Table": "write pl.from_arrow(table)",
    "RecordBatch": "write pl.from_arrow(batch)",
    "list": "write pl.DataFrame(rows, schema=['a', 'b'], orient='row')",
    "tuple": "write pl.DataFrame([row], schema=['a', 'b'], orient='row')",
}
"""What to write instead of what is no frame, by its class."""


def fit_frame(outputs: Mapping[str, Schema], stream: str, frame: pl.DataFrame) -> pl.DataFrame:
    """What a task emits, in the columns and types that its component declares for the stream.

    Raises:
        Misfit: it is no frame, the stream is not declared, or columns or types are others.
    """
    if not isinstance(frame, pl.DataFrame):
        instead, kind = _FRAMES.get(type(frame).__name__, "write pl.DataFrame(…) of it"), type(frame).__name__
        if type(frame).__module__.startswith("pandas"):
            instead, kind = "write pl.from_pandas(frame)", f"pandas {kind}"
        raise Misfit(f"emits a {kind}, and what travels are Polars data frames", instead)
    if stream not in outputs:
        declared = ", ".join(f"'{name}'" for name in outputs) or "none"
        given = ", ".join(f"{name!r}: ouzel.schema(…)" for name in dict.fromkeys((*outputs, stream)))
        raise Misfit(
            f"emits the stream '{stream}', which it does not declare: it declares {declared}",
            f"write set_bolt(name, bolt, {{{given}}}), or leave stream= out",
        )
    kinds = outputs[stream].polars()
    if frame.columns != list(kinds):
        if sorted(frame.columns) != sorted(kinds):
            problem = f"emits columns {', '.join(frame.columns) or 'none'}, and declares {', '.join(kinds)}"
            raise Misfit(problem, _advise_of_columns(frame.columns, list(kinds)))
        frame = frame.select(kinds)
    return frame if frame.schema == pl.Schema(kinds) else frame.with_columns(_columns(outputs[stream], frame))


def _advise_of_columns(made: list[str], declared: list[str]) -> str:
    """What to write where a frame has other columns than are declared."""
    extra, lacking = [name for name in made if name not in declared], [name for name in declared if name not in made]
    if len(extra) == len(lacking):
        return f"write frame.rename({dict(zip(extra, lacking, strict=True))})"
    if lacking:
        return f"add {', '.join(lacking)} to the frame, or declare ouzel.schema(…) without"
    return (
        f"write frame.select({', '.join(map(repr, declared))}), or declare {', '.join(extra)} in ouzel.schema(…), too"
    )


def _columns(schema: Schema, frame: pl.DataFrame) -> list[pl.Series]:
    made = []
    for name, kind in schema.polars().items():
        column = frame[name]
        alike = column.dtype == pl.Null or any(belongs(column.dtype) and belongs(kind) for belongs in _KINDS)
        if column.dtype != kind and not alike:
            raise Misfit(
                f"emits column '{name}' as {column.dtype}, and declares it {schema[name].type}",
                _advise_of_dtype(name, kind, column.dtype),
            )
        made.append(column.cast(kind))
    return made


def _advise_of_dtype(name: str, kind: pl.DataType, made: pl.DataType) -> str:
    """What to write where a column has another type than is declared."""
    cast = f"cast it: pl.col({name!r}).cast(pl.{kind})" if kind.is_numeric() else "emit what is declared"
    other = _DECLARED.get(made)
    return f"declare it ouzel.schema({name}={other}), or {cast}" if other and name.isidentifier() else cast


_DECLARED: Mapping[pl.DataType, str] = {
    pl.Int64(): "int", pl.Float64(): "float", pl.String(): "str", pl.Boolean(): "bool", pl.Date(): "date", pl.Binary(): "bytes",
}  # fmt: skip
"""What `ouzel.schema` takes for columns of Polars' types."""
