"""One registry of functions: what SQL and the DSL may call, what it means, and how each engine computes it.

An entry is a function's names, signatures, type rule, null rule, its lowering to the streaming kernel (Polars), its lowering to Spark (the
text of a PySpark Column expression, so that a generated job is readable) and one line of doc. Families live in one file each, which export
`FUNCTIONS: tuple[Function, ...]`; `lookup` finds an entry by any of its names. A differential test runs both lowerings of every entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Expression
from ouzel.compiler.types import DataType

if TYPE_CHECKING:
    import polars as pl

TypeRule = Callable[[Sequence[DataType]], "Signature | None"]
"""Argument types -> the signature that applies, or None when the function does not take these types."""


@dataclass(frozen=True)
class Signature:
    """What one call resolves to: the types its arguments are cast to first, and the type it gives."""

    parameters: tuple[DataType, ...]
    result: DataType


@dataclass(frozen=True)
class Lowered:
    """A kernel expression and, where a row can fail, the condition under which it does.

    `error` is a Boolean Polars expression, true for a row that Spark in ANSI mode would fail; it is never null. `value` may be anything
    on such a row. `reason` is a short sentence for the bad record. `literal` is the Python value of a literal that is not NULL, so that
    a lowering may do at plan time what a row need not repeat. `told` is a text that says of each row why it fails, where that is known only
    of the row itself; NULL elsewhere.
    """

    value: pl.Expr
    error: pl.Expr | None = None
    reason: str = ""
    literal: object = None
    told: pl.Expr | None = None


KernelLowering = Callable[[Sequence["Lowered"], "Signature"], "Lowered"]
"""Lowered arguments (already of the parameter types) -> the lowered call. Lazy functions (AND, OR, COALESCE, IF) mask argument errors."""

SparkLowering = Callable[[Sequence[str], "Signature"], str]
"""Texts of the arguments as PySpark Columns -> text of the call, with `F` = pyspark.sql.functions and `T` = pyspark.sql.types in scope."""


@dataclass(frozen=True)
class Function:
    """One scalar function.

    Args:
        name: canonical name, lower case.
        resolve: the type rule.
        kernel: the streaming lowering.
        spark: the Spark lowering.
        doc: one line.
        usage: how a call looks, e.g. `SUBSTRING(text, start [, length])`.
        aliases: other names SQL may use.
        null_in_null_out: any NULL argument gives NULL (documentation, and tested).
        deterministic: the same arguments always give the same answer; only such functions are constant-folded.
        refine: the signature once the arguments are known, where a constant decides on the type; None where it does not.
        check: refuses at plan time what the types do not show, such as a date pattern that must be a literal; raises QueryError.
        examples: literal arguments that the differential test tries, where an argument must be a literal: position to values.
    """

    name: str
    resolve: TypeRule
    kernel: KernelLowering
    spark: SparkLowering
    doc: str
    usage: str
    aliases: tuple[str, ...] = ()
    null_in_null_out: bool = True
    deterministic: bool = True
    refine: Callable[[Sequence[Expression], Signature], Signature] | None = None
    check: Callable[[Sequence[Expression]], None] | None = None
    examples: tuple[tuple[int, tuple[object, ...]], ...] = ()
