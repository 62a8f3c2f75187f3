"""Conditions of a WHERE that are true together of no row: x = 1 AND x = 2, x > 20 AND x < 10."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ouzel.compiler.expressions import Call, Expression
from ouzel.compiler.sql.expressions.suspicions import compared_with, find_limit
from ouzel.compiler.sql.syntax.source import QueryText


def note_never_true(source: QueryText, conditions: Sequence[Expression]) -> None:
    """Tell of the first two conjuncts of one WHERE that exclude each other."""
    of_columns: dict[str, list[Call]] = {}
    for part in conditions:
        if isinstance(part, Call) and part.written and (name := _column_of(part)):
            of_columns.setdefault(name, []).append(part)
    for parts in of_columns.values():
        for one, other in combinations(parts[:_MOST], 2):
            if advice := _advise(one, other):
                _note(source, one, other, advice)
                return


_MOST = 20
"""So many conditions on one column are compared with each other."""


def _column_of(part: Call) -> str:
    said = compared_with(part, "eq") or find_limit(part)
    return said[0].name if said else ""


def _advise(one: Call, other: Call) -> str:
    if _are_other_constants(one, other):
        return "write OR, or IN (...)"
    return "write OR, or turn one sign around" if _leave_no_number(one, other) else ""


def _note(source: QueryText, one: Call, other: Call, advice: str) -> None:
    assert one.written is not None
    assert other.written is not None
    first, second = sorted((source.span(one.written), source.span(other.written)))
    if ";" not in source.blank_out()[first[0] : second[0]]:  # else one is of a view below
        texts = (source.text[slice(*span)] for span in (first, second))
        source.note(f"{' AND '.join(texts)} is true of no row", second, advice)


def _are_other_constants(one: Expression, other: Expression) -> bool:
    first, second = compared_with(one, "eq"), compared_with(other, "eq")
    if first is None or second is None or first[0] != second[0] or None in (first[1].value, second[1].value):
        return False
    return first[1].value != second[1].value


def _leave_no_number(one: Expression, other: Expression) -> bool:
    """Whether a number is to be above one bound and below another, and there is none between them."""
    first, second = find_limit(one), find_limit(other)
    if first is None or second is None or first[0] != second[0] or first[1][0] == second[1][0]:
        return False
    low, high = (first, second) if first[1][0] == "g" else (second, first)
    return low[2] > high[2] or (low[2] == high[2] and (low[1], high[1]) != ("ge", "le"))
