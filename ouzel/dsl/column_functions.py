"""Functions of the user's that compute whole columns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ouzel.compiler.plan import PythonStep, StepKind, StepPart
from ouzel.compiler.records import Hint, RecordType, made_of, writer
from ouzel.compiler.types import to_polars
from ouzel.dsl.windows import value_at
from ouzel.errors import QueryError


@dataclass(frozen=True)
class ColumnFunction:
    """A function of Polars series, one a column of the record, which gives the columns of the new records, as many values each.

    For flat_map each value is a list, for filter a boolean.
    """

    function: Callable[..., Any]
    returns: Hint

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", "columns"))

    def __call__(self, *series: Any) -> Any:
        """The function itself."""
        return self.function(*series)


def column_function(returns: Hint) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function as one of columns; a decorator.

    The function takes Polars series, one a column of the record (of `map_values` that of the value), and gives a series of as many
    values, or a tuple of such for a record of several columns. For `flat_map` each value is a list; for `filter` it is a boolean.

    Args:
        returns: the type of the records that it makes, as `tuple[str, int]`; of a filter bool.
    """
    if inspect.isroutine(returns):
        raise QueryError(
            f"column_function takes the type of the records that come of {returns.__name__}, not the function itself",
            instead=f"write @column_function(str) above def {returns.__name__}",
        )
    return lambda function: ColumnFunction(function, returns)


def columns_given(record: RecordType, part: StepPart) -> tuple[str, ...]:
    """The columns of which a step's function is given a series each."""
    names = tuple(record.schema.names)
    return {StepPart.KEY: names[:1], StepPart.VALUE: names[1:]}.get(part, names)


def made_by_columns(
    step: PythonStep, takes: RecordType, gives: RecordType, records: Sequence[Any]
) -> list[tuple[int, Any]]:
    """What a step of columns makes of all these records at once: each with the place of the one that it came of."""
    seen = {StepPart.KEY: (0,), StepPart.VALUE: (1,)}.get(step.part, tuple(range(len(takes.columns))))
    made = step.function(*(_series(takes, place, records) for place in seen))
    columns = [one.to_list() for one in (made if isinstance(made, tuple) else (made,))]
    if step.kind is StepKind.FILTER:
        return [(place, records[place]) for place, true in enumerate(columns[0]) if true]
    if step.kind is StepKind.FLAT_MAP:
        parts = [(place, part) for place, lists in enumerate(zip(*columns, strict=True)) for part in _transpose(lists)]
    else:
        parts = list(enumerate(zip(*columns, strict=True)))
    names = gives.schema.names
    if step.part is StepPart.RECORD:
        return [(place, made_of(gives, dict(zip(names, values, strict=True)))) for place, values in parts]
    first = step.part is StepPart.KEY
    return [(place, (one, records[place][1]) if first else (records[place][0], one)) for place, (one,) in parts]


def _series(record: RecordType, place: int, records: Sequence[Any]) -> Any:
    import polars as pl

    field, write = record.columns[place], writer(record.hints[place], record.columns[place].type)
    values = [value_at(one, record.form, place, field.name) for one in records]
    return pl.Series(field.name, values if write is None else list(map(write, values)), dtype=to_polars(field.type))


def _transpose(lists: Sequence[Sequence[Any] | None]) -> Iterable[tuple[Any, ...]]:
    return zip(*(one or () for one in lists), strict=True)
