"""Functions that the user writes in Python: rows like all others, whose lowerings call Python with whole columns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from ouzel.compiler.functions.lowering import quote
from ouzel.compiler.functions.registry import Function, Lowered, Signature
from ouzel.compiler.records import Hint, spell, type_of
from ouzel.compiler.types import DataType, to_polars
from ouzel.compiler.user_code import FAILURES, calls_of, check_gives, check_plain, describe_raised, users_line_in
from ouzel.errors import NotSupported, OuzelError, QueryError
from ouzel.exits import in_user_code

if TYPE_CHECKING:
    import polars as pl

Python = Callable[..., Any]


@dataclass(frozen=True)
class PythonFunction(Function):
    """A scalar function in Python.

    Args:
        signature: the types of its arguments, to which they are cast, and of its result.
        python: takes Polars series, one a parameter and all of one length, and gives a series of that length; or, with `by_row`, takes
            one value a parameter, None for NULL, and gives a value.
        by_row: whether it is called for each row. One that raises refuses its row, as `error.policy` says.
    """

    python: Python = field(kw_only=True)
    signature: Signature = field(kw_only=True)
    by_row: bool = field(kw_only=True)

    def __call__(self, *arguments: Any) -> Any:
        """The Python function itself."""
        return self.python(*arguments)


def function(
    parameters: Sequence[DataType | Hint],
    result: DataType | Hint = None,
    *,
    name: str = "",
    by_row: bool = False,
    deterministic: bool = True,
) -> Callable[[Python], PythonFunction]:
    """Make a Python function one that SQL may call; a decorator.

    The function takes Polars series, one a parameter, and gives a series of as many values: one call computes a whole batch. With
    `by_row` it takes and gives single values, which is far slower.

    Args:
        parameters: the types of its arguments, to which they are cast, as SQL or as Python writes them: `("VARCHAR", list[int])`.
        result: the type it gives.
        name: what SQL calls it; by default its own name.
        by_row: whether it is called for each row.
        deterministic: whether the same arguments always give the same answer.
    """

    if result is None:
        called = called_name(parameters) if callable(parameters) else "shout"
        raise QueryError(
            f"@ouzel.function takes the types of the arguments and of the result, and above {called} it is given none",
            instead=f"write @ouzel.function({_spell_annotations(parameters)}) above def {called}",
        )

    def make(python: Python) -> PythonFunction:
        called = (name or called_name(python)).lower()
        check_plain(python, f"the function {called}", may_yield=False)
        check_gives(python, f"the function {called}")
        signature = _signature(called, parameters, result)
        _check_parameters(python, called, signature)
        return PythonFunction(
            called,
            resolve=partial(_resolve, signature),
            kernel=partial(_kernel, python, by_row),
            spark=partial(_spark, python),
            doc=((python.__doc__ or "").strip() or f"{called} in Python.").splitlines()[0],
            usage=f"{called.upper()}({', '.join(map(str, signature.parameters))})",
            null_in_null_out=False,
            deterministic=deterministic,
            python=python,
            signature=signature,
            by_row=by_row,
        )

    return make


def _spell_annotations(python: object) -> str:
    """The arguments of `@ouzel.function` that a function's annotations say; an example of a function without them."""
    signature = inspect.signature(python) if inspect.isfunction(python) else inspect.Signature()
    hints = [*(one.annotation for one in signature.parameters.values()), signature.return_annotation]
    if len(hints) < 2 or inspect.Signature.empty in hints:
        return "(str,), str"
    shown = [hint if isinstance(hint, str) else spell(hint) for hint in hints]
    return f"({', '.join(shown[:-1])},), {shown[-1]}, by_row=True"


def called_name(python: Python) -> str:
    """What a function is called; of a partial one, what it completes, and of another object its type."""
    if isinstance(python, partial):
        return called_name(python.func)
    return str(getattr(python, "__name__", type(python).__name__))


def _check_parameters(python: Python, called: str, signature: Signature) -> None:
    """See that the function takes as many arguments as there are types of them.

    Raises:
        QueryError: it does not.
    """
    try:
        takes = inspect.signature(python)
    except (TypeError, ValueError):  # of many that are written in C nothing is known
        return
    try:
        takes.bind(*signature.parameters)
    except TypeError as error:
        types = ", ".join(map(str, signature.parameters))
        wanted = ", ".join(["str"] * len(takes.parameters))
        raise QueryError(
            f"the function {called} takes {takes}, and @ouzel.function says the types of its arguments are ({types}): {error}",
            instead=f"write the type of each argument: @ouzel.function(({wanted},), {str(signature.result)!r})",
        ) from None


def _signature(called: str, parameters: object, result: object) -> Signature:
    """What it takes and gives.

    Raises:
        QueryError: that is not said so.
    """
    if isinstance(parameters, str | type) or not isinstance(parameters, Iterable):
        shown = f"({parameters!r},)" if isinstance(parameters, str) else f"({spell(parameters)},)"
        raise QueryError(
            f"the function {called} has the parameters {parameters!r:.60}, and they are to be a tuple of types",
            instead=f"write @ouzel.function({shown if isinstance(parameters, str | type) else '(str,)'}, {_write_type(result)})",
        )
    return Signature(tuple(map(_type, parameters)), _type(result))


def _write_type(result: object) -> str:
    return repr(result) if isinstance(result, str) else spell(result)


def _type(written: Any) -> DataType:
    if isinstance(written, DataType):
        return written
    if not isinstance(written, str):
        return type_of(written)
    from ouzel.compiler.sql.syntax.source import QueryText
    from ouzel.compiler.sql.syntax.type_names import read_type

    source = QueryText(written)
    return read_type(source, source.tokens())


def _resolve(signature: Signature, kinds: Sequence[DataType]) -> Signature | None:
    from ouzel.compiler.coercion import can_coerce

    fits = len(kinds) == len(signature.parameters) and all(map(can_coerce, kinds, signature.parameters))
    return signature if fits else None


def _kernel(python: Python, by_row: bool, arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    from ouzel.compiler.functions.lowering import any_of

    kind = to_polars(signature.result)
    given = [argument.value for argument in arguments]
    error = any_of(*(argument.error for argument in arguments))
    reason = next((argument.reason for argument in arguments if argument.reason), "")
    if not by_row:
        return Lowered(pl.map_batches(given, partial(call_columns, python, kind), kind), error, reason)
    answer = pl.Struct({VALUE: kind, FAILED: pl.String()})
    both = pl.map_batches(given, partial(call_rows, python, kind), answer)
    told = both.struct.field(FAILED)
    failed = told.is_not_null()
    return Lowered(
        both.struct.field(VALUE),
        failed if error is None else failed | error,
        reason or f"{called_name(python)} failed",
        told=pl.lit(f"{called_name(python)} ") + told,
    )


VALUE, FAILED = "value", "failed"

BY_ROW = "; it is given whole columns, as Polars series; say by_row=True in @ouzel.function if it takes single values"
"""The advice for a function of values that is given a series."""

SHOWN = 200
"""Characters of a value that an error shows."""


class _Raised(OuzelError):
    """What a function of columns did. Polars adds an expression of its own to the message, which is none of the user's."""

    def __str__(self) -> str:
        return super().__str__().partition("\n\nThis error occurred in the following expression")[0]


def call_columns(python: Python, kind: pl.DataType, series: Sequence[pl.Series]) -> pl.Series:
    """The function's answer for whole columns, in the type that it declares.

    Raises:
        OuzelError: it raises, or gives something else than a series of as many values.
    """
    import polars as pl

    columns = _of_one_length(series)
    rows = len(columns[0])  # now, for what it is given it may change
    try:
        with in_user_code():  # Polars calls in threads of its own
            answer = python(*columns)
    except FAILURES as error:
        advice = BY_ROW if isinstance(error, AttributeError | TypeError) and "Series" in str(error) else ""
        raise _Raised(f"the function {called_name(python)} {_describe(error)}{advice}") from error
    if not isinstance(answer, pl.Series) or len(answer) != rows:
        given = f"a series of {len(answer)}" if isinstance(answer, pl.Series) else type(answer).__name__
        raise _Raised(
            f"the function {called_name(python)} gave {given} for {rows} rows; return a Polars series of as many values"
        )
    try:
        return _cast_whole(answer, kind)
    except Exception as error:
        given = f"a series of {answer.dtype} that is none of {kind}"
        raise _Raised(f"the function {called_name(python)} gave {given}: {str(error).splitlines()[0]}") from error


def _cast_whole(answer: pl.Series, kind: pl.DataType) -> pl.Series:
    """The series in the type, if that loses no part of a number, nor a time of day.

    Raises:
        Exception: it does, or the type takes no such values.
    """
    found = answer.cast(kind)
    parts = (kind.is_integer() and answer.dtype.is_float()) or (kind.is_temporal() and answer.dtype.is_temporal())
    if parts and kind != answer.dtype:
        lost = (found.cast(answer.dtype) != answer).arg_true()
        if len(lost):
            raise ValueError(f"{answer[int(lost[0])]} would be cut to {found[int(lost[0])]}")
    return found


def call_rows(python: Python, kind: pl.DataType, series: Sequence[pl.Series]) -> pl.Series:
    """The function's answer row by row, as structs of its `VALUE` and of why there is none (`FAILED`, NULL where there is one)."""
    import polars as pl

    with in_user_code():
        answers = [
            _answer(python, row) for row in zip(*(column.to_list() for column in _of_one_length(series)), strict=True)
        ]
    values, failed = [value for value, _ in answers], [problem for _, problem in answers]
    try:
        column = _make_series(values, kind)
    except Exception:  # one of the values is of another type: each by itself says which
        problems = [_misfit(value, kind) for value in values]
        column = _make_series([None if problem else one for one, problem in zip(values, problems, strict=True)], kind)
        failed = [known or problem for known, problem in zip(failed, problems, strict=True)]
    return pl.DataFrame({VALUE: column, FAILED: pl.Series(failed, dtype=pl.String())}).to_struct()


def _answer(python: Python, row: Sequence[Any]) -> tuple[Any, str | None]:
    """The value for a row, or what was raised instead."""
    try:
        return python(*row), None
    except FAILURES as error:
        return None, _describe(error)


def _describe(error: BaseException) -> str:
    """What the function raised, and in which line of the user's."""
    where = users_line_in(calls_of(error))
    return f"raised {describe_raised(error)}" + (f" (at {where})" if where else "")


def _misfit(value: Any, kind: pl.DataType) -> str | None:
    """Why a value is none of the type, if it is not."""
    try:
        _make_series([value], kind)
    except Exception:
        return f"gave {_show(value)}, which is no {kind}"
    return None


def _show(value: Any) -> str:
    """The beginning of how Python writes a value; of one that cannot be written its type."""
    try:
        written = repr(value)
    except FAILURES:
        return f"a {type(value).__name__}"
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}…"


def _make_series(values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    """The values as a column of just that type: Polars takes the first value's word for some, and NULL for what it has no place for.

    Raises:
        Exception: see column_of; or one has a time zone, fields or keys that the type has not.
    """
    column = column_of(VALUE, _as_declared(values, kind), kind)
    if column.dtype != kind:
        raise TypeError(f"{column.dtype} is no {kind}")
    return column


def _as_declared(values: Sequence[Any], kind: Any) -> list[Any]:
    """The values as Polars has to be given them: dictionaries as the entries of a map, arrays of NumPy as lists, all else as it is.

    Parts of values are held to their types as whole columns: of each row by itself that took 20 microseconds.

    Raises:
        Exception: see `_make_series`.
    """
    import polars as pl

    match kind:
        case pl.Struct():
            _check_fields([value for value in values if isinstance(value, dict)], dict(kind.to_schema()))
        case pl.Datetime(time_zone=None):
            if any(isinstance(value, datetime) and value.tzinfo is not None for value in values):
                raise ValueError("a TIMESTAMP has no time zone")
        case pl.List(inner=pl.Struct() as entry) if _is_map(kind):
            _check_entries([value for value in values if isinstance(value, dict)], dict(entry.to_schema()))
            return [_entries(value) if isinstance(value, dict) else _as_list(value) for value in values]
        case pl.List():
            return list(map(_as_list, values))
    return list(values)


def _check_fields(rows: Sequence[dict[str, Any]], fields: Mapping[str, Any]) -> None:
    for row in rows:
        if further := row.keys() - fields.keys():
            raise ValueError(f"it has no field {further}")
    for name, kind in fields.items():
        column_of(name, [row.get(name) for row in rows], kind)


def _check_entries(maps: Sequence[dict[Any, Any]], entry: Mapping[str, Any]) -> None:
    """Inside a list Polars would make texts of numbers."""
    if any(None in each for each in maps):
        raise ValueError("None is no key of a MAP")
    column_of("key", [key for each in maps for key in each], entry["key"])
    column_of("value", [value for each in maps for value in each.values()], entry["value"])


def _as_list(value: Any) -> Any:
    """An array of NumPy as a list, beside which Polars takes NULL too; anything else as it is."""
    return value.tolist() if type(value).__name__ == "ndarray" else value


def _entries(value: dict[Any, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": item} for key, item in value.items()]


_ROWS_OF_VALUES = frozenset({"list", "tuple", "range", "ndarray", "Series", "NoneType"})
"""Types of Python that are an ARRAY: in order, and not bytes, which Polars would take for numbers."""


def column_of(name: str, values: list[Any], kind: pl.DataType) -> pl.Series:
    """Values that the user's Python gave, as a column.

    Raises:
        Exception: one of them is of another type, too large for a FLOAT, or a Decimal that is no number.
    """
    import polars as pl

    others = {type(value).__name__ for value in values} - _ROWS_OF_VALUES if isinstance(kind, pl.List) else ()
    if others and not _is_map(kind):
        raise TypeError(f"{', '.join(sorted(others))} is no {kind}")
    if _holds_decimals(kind) and not all(map(_is_finite, values)):  # Polars panics
        raise ValueError(f"Infinity or NaN is no {kind}")
    column = pl.Series(name, values, dtype=kind, strict=True)
    if kind == pl.Float32 and column.is_infinite().any():
        given = [values[row] for row in column.is_infinite().arg_true()]
        if not all(abs(value) == float("inf") for value in given):
            raise OverflowError(f"a value is too large for {kind}")
    return column


def _holds_decimals(kind: Any) -> bool:
    """Whether a type is DECIMAL, or has such a part."""
    import polars as pl

    match kind:
        case pl.List():
            return _holds_decimals(kind.inner)
        case pl.Struct():
            return any(_holds_decimals(field.dtype) for field in kind.fields)
    return isinstance(kind, pl.Decimal)


def _is_finite(value: Any) -> bool:
    match value:
        case Decimal():
            return value.is_finite()
        case dict():
            return all(map(_is_finite, value.values()))
        case list() | tuple():
            return all(map(_is_finite, value))
    return True


def _is_map(kind: pl.DataType) -> bool:
    """Whether the column holds maps, as lists of keys and values."""
    import polars as pl

    return (
        isinstance(kind, pl.List)
        and isinstance(kind.inner, pl.Struct)
        and [field.name for field in kind.inner.fields] == ["key", "value"]
    )


def _of_one_length(series: Sequence[pl.Series]) -> list[pl.Series]:
    """The columns, with constants repeated once for each row."""
    rows = max((len(column) for column in series if len(column) != 1), default=1)
    return [column.new_from_index(0, rows) if len(column) == 1 != rows else column for column in series]


def _spark(python: Python, arguments: Sequence[str], signature: Signature) -> str:
    from ouzel.compiler.functions.spark_types import to_spark_type

    path, module = getattr(python, "__qualname__", "<object>"), getattr(python, "__module__", "__main__")
    if "<" in path or module == "__main__":
        raise NotSupported(
            f"the function {called_name(python)} cannot be imported by Spark's workers",
            instead="define it at the top of a module that is installed there",
        )
    where = f"{module}:{path}"
    given = ", ".join((quote(where), quote(to_spark_type(signature.result)), *arguments))
    return f"python_function({given})"
