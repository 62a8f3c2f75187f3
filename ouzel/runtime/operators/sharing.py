"""Parts that several expressions have alike, computed once: Polars' own search for them needs a lazy frame, which takes 0.2 ms to make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from ouzel.compiler.expressions import Call, Cast, Column, Expression, children, columns_of, rewrite, walk_expression
from ouzel.compiler.functions import function_of
from ouzel.compiler.functions.kernel import lower
from ouzel.compiler.types import BOOLEAN, BooleanType, DataType, DateType, FloatType, IntegerType
from ouzel.errors import NotSupported

_NAME = "$shared"


@dataclass(frozen=True)
class Shared:
    """Parts by the names of columns that hold them; each may use those before it, and what computes `expressions` uses them all."""

    parts: tuple[tuple[str, Expression], ...]
    expressions: tuple[Expression, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(name for name, _ in self.parts)

    def columns(self) -> list[list[pl.Expr]]:
        """What computes the columns, in steps: each step uses those before it."""
        steps: list[list[pl.Expr]] = []
        known: set[str] = set()
        for name, part in self.parts:
            if not steps or columns_of(part) & known:
                steps.append([])
                known = set()
            steps[-1].append(lower(part).value.alias(name))
            known.add(name)
        return steps


def share_parts(
    expressions: Sequence[Expression], again: Sequence[Expression] = (), within: Expression | None = None
) -> Shared:
    """Find what is computed more than once and takes its time.

    Args:
        expressions: what is computed.
        again: those of them that are computed twice, as the rows that fail are looked for besides.
        within: only what stands in this one too is shared.
    """
    counts = Counter(part for one in (*expressions, *again) for part in walk_expression(one))
    found = [part for part, count in counts.items() if count > 1 and _is_costly(part)]
    if within is not None:
        found = [part for part in found if part in set(walk_expression(within))]
    left, repeated, parts = list(expressions), list(again), list[tuple[str, Expression]]()
    for part in sorted(found, key=_size, reverse=True):
        uses = sum(one == part for whole in (*left, *repeated) for one in walk_expression(whole))
        uses += sum(one == part for _, whole in parts for one in walk_expression(whole))
        if uses > 1 and _may_share(part):
            name = f"{_NAME}{len(parts)}{'' if within is None else '.'}"
            put = _put(part, Column(part.type, name))
            left, repeated = [rewrite(one, put) for one in left], [rewrite(one, put) for one in repeated]
            parts = [(name, part), *((known, rewrite(one, put)) for known, one in parts)]
    return Shared(tuple(parts), tuple(left))


def _put(part: Expression, column: Column) -> Callable[[Expression], Expression]:
    return lambda one: column if one == part else one


def _size(part: Expression) -> int:
    return sum(1 for _ in walk_expression(part))


def _is_costly(part: Expression) -> bool:
    """Whether computing it takes longer than to make a column of it: numbers and dates do not, nor does a comparison.

    Quotients and remainders of floats do, for NumPy computes them.
    """
    if not isinstance(part, Call | Cast) or part.type == BOOLEAN or not columns_of(part):
        return False
    by_numpy = isinstance(part, Call) and part.function in ("divide", "modulo") and isinstance(part.type, FloatType)
    return by_numpy or not (_is_plain(part.type) and all(_is_plain(one.type) for one in children(part)))


def _is_plain(kind: DataType) -> bool:
    return isinstance(kind, BooleanType | IntegerType | FloatType | DateType)


def _may_share(part: Expression) -> bool:
    """Whether it may be computed for rows that do not ask for it, and once instead of twice."""
    calls = [one for one in walk_expression(part) if isinstance(one, Call)]
    known = [function_of(call) for call in calls]
    try:
        return all(function is not None and function.deterministic for function in known) and lower(part).error is None
    except NotSupported:
        return False
