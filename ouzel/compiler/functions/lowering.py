"""What the lowerings of the registry are made of: errors that are masks, Python called once per distinct value, and text of PySpark.

A kernel expression never raises: where Spark would fail a row, `Lowered.error` is true for it and `value` is anything. An argument's error
counts only if the arguments before it are not NULL, for Spark does not look at the rest of a call once it has met a NULL.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from ouzel.compiler.functions.registry import KernelLowering, Lowered, Signature, SparkLowering

if TYPE_CHECKING:
    import polars as pl

_EXACT = Context(prec=120)
Build = Callable[..., "pl.Expr"]
RowFunction = Callable[..., object]


def any_of(*errors: pl.Expr | None) -> pl.Expr | None:
    """The OR of the errors there are."""
    found: pl.Expr | None = None
    for error in errors:
        found = error if found is None else found if error is None else found | error
    return found


def reasons(*texts: str) -> str:
    """The distinct reasons, in order, as one text."""
    return " or ".join(dict.fromkeys(text for text in texts if text))


def with_errors(
    value: pl.Expr, arguments: Sequence[Lowered], error: pl.Expr | None = None, reason: str = ""
) -> Lowered:
    """A call's `value` and its own `error` (NULL counts as false), together with the errors of its arguments."""
    own = None if error is None else error.fill_null(False)
    if all(argument.error is None for argument in arguments):
        return Lowered(value, own, reason)
    found: pl.Expr | None = None
    seen: pl.Expr | None = None  # true where all arguments so far are not NULL
    for argument in arguments:
        if argument.error is not None:
            found = any_of(found, argument.error if seen is None else seen & argument.error)
        if argument.literal is None:
            present = argument.value.is_not_null()
            seen = present if seen is None else seen & present
    return Lowered(value, any_of(found, own), reasons(*(argument.reason for argument in arguments), reason))


def with_errors_right_first(
    value: pl.Expr, arguments: Sequence[Lowered], error: pl.Expr | None = None, reason: str = ""
) -> Lowered:
    """As `with_errors`, of division and remainder, whose right side Spark computes first: `1 / 0 / NULL` is NULL."""
    return with_errors(value, arguments[::-1], error, reason)


def where_present(error: pl.Expr, arguments: Sequence[Lowered]) -> pl.Expr:
    """An error that counts only where no argument is NULL."""
    for argument in arguments:
        if argument.literal is None:
            error = error & argument.value.is_not_null()
    return error


def strict(arguments: Sequence[Lowered], value: pl.Expr) -> Lowered:
    """`value` with the errors of all arguments, whether or not others are NULL: for calls that look at every argument."""
    error = any_of(*(argument.error for argument in arguments))
    return Lowered(value, error, reasons(*(argument.reason for argument in arguments)))


def plain(build: Build) -> KernelLowering:
    """A call that cannot fail by itself: values in, value out."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        return with_errors(build(*(argument.value for argument in arguments)), arguments)

    return lower


def eager(build: Build) -> KernelLowering:
    """As `plain`, for a call that looks at all of its arguments even if one is NULL."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        return strict(arguments, build(*(argument.value for argument in arguments)))

    return lower


def failing(build: Build, error: Build, reason: str) -> KernelLowering:
    """A call that fails the rows where `error` holds."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        values = [argument.value for argument in arguments]
        return with_errors(build(*values), arguments, where_present(error(*values), arguments), reason)

    return lower


def by_row(function: RowFunction, reason: str = "") -> KernelLowering:
    """Python called once per distinct combination of arguments, for what no vectorised kernel computes; rows with a NULL give NULL.

    A ValueError or ArithmeticError of `function` is the row's error. Dates, timestamps and intervals come and go as integers (days,
    microseconds), since Python's own stop at the year 9999.
    """

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        from ouzel.compiler.types import to_polars

        both = map_rows([argument.value for argument in arguments], function, to_polars(signature.result))
        error = both.struct.field("failed") if reason else None
        return with_errors(both.struct.field("value"), arguments, error, reason)

    return lower


def call_on_frame(
    arguments: Sequence[pl.Expr], function: Callable[[pl.DataFrame], pl.Series], result: pl.DataType
) -> pl.Expr:
    """Call `function` with a frame of the arguments' values (columns "0", "1" ...) and take the Series it gives for the rows."""
    import polars as pl

    row = pl.struct(*(argument.alias(str(number)) for number, argument in enumerate(arguments)))
    constant = not any(argument.meta.root_names() for argument in arguments)
    return row.map_batches(
        lambda rows: function(rows.struct.unnest()), return_dtype=result, is_elementwise=True, returns_scalar=constant
    )


def ufunc(name: str) -> Callable[..., pl.Expr]:
    """A function of NumPy over DOUBLEs; NULL where an argument is.

    Division too: Polars multiplies by 1 / b where b is a single value, also in a frame of one row, and is an ulp off then.
    """

    def build(*values: pl.Expr) -> pl.Expr:
        import polars as pl

        return call_on_frame(values, lambda rows: apply_ufunc(name, *rows.get_columns()), pl.Float64())

    return build


def apply_ufunc(name: str, *columns: pl.Series) -> pl.Series:
    """`ufunc` of columns."""
    import numpy as np
    import polars as pl

    # Filling NULLs that are not there took most of the time.
    filled = (column.fill_null(1.0) if column.null_count() else column for column in columns)
    with np.errstate(all="ignore"):
        values = getattr(np, name)(*(column.to_numpy() for column in filled))
    answer = pl.Series(values, dtype=pl.Float64)
    for column in columns:
        if column.null_count():
            answer = answer.set(column.is_null(), None)
    return answer


def map_rows(arguments: Sequence[pl.Expr], function: RowFunction, result: pl.DataType) -> pl.Expr:
    """A struct of `value` and `failed` for each row; see `by_row`."""
    import polars as pl

    def batch(rows: pl.DataFrame) -> pl.Series:
        columns = rows.get_columns()
        hashable = not any(column.dtype.is_float() or column.dtype.is_nested() for column in columns)
        values, failed = _call(function, [_plain_values(column) for column in columns], hashable)
        storage = _storage(result)
        if isinstance(result, pl.Decimal):
            values = [None if value is None else unscale_int(value, result.scale) for value in values]
        value = pl.Series("value", values, dtype=storage, strict=False)
        if storage != result:
            value = value.reinterpret(dtype=result) if isinstance(result, pl.Decimal) else value.cast(result)
        return pl.DataFrame([value, pl.Series("failed", failed, dtype=pl.Boolean)]).to_struct("row")

    return call_on_frame(arguments, batch, pl.Struct({"value": result, "failed": pl.Boolean}))


def unscale_int(value: Decimal, scale: int) -> int:
    """A decimal's digits at a scale it has, as an integer."""
    return int(value.scaleb(scale, _EXACT))


def _plain_values(column: pl.Series) -> list[Any]:
    return (column.to_physical() if column.dtype.is_temporal() else column).to_list()


def _storage(kind: pl.DataType) -> pl.DataType:
    import polars as pl

    if isinstance(kind, pl.Decimal):
        return pl.Int128()
    return pl.Int32() if kind == pl.Date else pl.Int64() if kind.is_temporal() else kind


def _call(function: RowFunction, columns: list[list[Any]], hashable: bool) -> tuple[list[Any], list[bool]]:
    known: dict[Any, tuple[object, bool]] = {}
    answers = []
    for row in zip(*columns, strict=True):
        if not hashable:
            answers.append(_answer(function, row))
            continue
        if row not in known:
            known[row] = _answer(function, row)
        answers.append(known[row])
    return [value for value, _ in answers], [failed for _, failed in answers]


def _answer(function: RowFunction, row: tuple[Any, ...]) -> tuple[object, bool]:
    if any(value is None for value in row):
        return None, False
    try:
        return function(*row), False
    except (ValueError, ArithmeticError):
        return None, True


# --- text of PySpark


def parenthesize(text: str) -> str:
    """`text` in parentheses if an operator or a method call beside it would otherwise tear it apart."""
    loose = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
    return f"({text})" if isinstance(ast.parse(text, mode="eval").body, loose) else text


def constant_of(text: str) -> str:
    """The bare Python constant of a literal's text (`F.lit(1)`, `F.lit(1).cast("bigint")` -> `1`), or `text` as it is."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cast":
        node = node.func.value
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "F.lit":
        return ast.unparse(node.args[0])
    return text


def bare(text: str) -> str:
    """The constant of a literal that says no type, where PySpark takes either: `F.lit("a")` -> `"a"`; or `text` as it is."""
    node = ast.parse(text, mode="eval").body
    if (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "F.lit"
        and isinstance(node.args[0], ast.Constant | ast.UnaryOp)
    ):
        return text.removeprefix("F.lit")[1:-1] if text != "F.lit(None)" else text
    return text


def spark_call(name: str, *bare: int) -> SparkLowering:
    """`F.name(arguments)`; the arguments at the positions `bare` are Python constants there, not Columns."""

    def lower(arguments: Sequence[str], signature: Signature) -> str:
        shown = (constant_of(text) if number in bare else text for number, text in enumerate(arguments))
        return f"F.{name}({', '.join(shown)})"

    return lower


def spark_builtin(name: str) -> SparkLowering:
    """A builtin of Spark SQL that has no DataFrame function of its own."""
    return lambda arguments, signature: f"F.call_function({', '.join([quote(name), *arguments])})"


def spark_operator(symbol: str) -> SparkLowering:
    """An infix operator of Column."""

    def lower(arguments: Sequence[str], signature: Signature) -> str:
        left, right = arguments
        short = constant_of(right)
        # a bare constant reads better, and next to a Column of that type means the same
        whole = right == f"F.lit({short})" or right.endswith('.cast("bigint")')
        right = short if whole and "F.col" in left and short.replace(".", "", 1).isdigit() else bare(right)
        return f"{parenthesize(left)} {symbol} {parenthesize(right)}"

    return lower


def spark_method(name: str) -> SparkLowering:
    """A method of Column: `first.name(rest)`."""
    return lambda arguments, signature: f"{parenthesize(arguments[0])}.{name}({', '.join(arguments[1:])})"


def quote(text: str) -> str:
    """The text as a Python string literal, whatever it holds: in double quotes, unless it holds more of those than of single ones."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    mark = "'" if text.count('"') > text.count("'") else '"'
    return mark + "".join(_escape(character, mark) for character in text) + mark


def _escape(character: str, mark: str) -> str:
    if character in (mark, "\\"):
        return "\\" + character
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def column_name(name: str) -> str:
    """The name as `F.col` reads it: in backticks if it would be taken apart."""
    return name if name.isidentifier() and name.isascii() else backtick(name)


def backtick(name: str) -> str:
    """The name as Spark's SQL reads it, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"
