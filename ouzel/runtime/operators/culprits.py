"""Which part of an expression fails on a row. Looked for only when one has failed: the kernel itself computes the whole at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from ouzel.compiler.expressions import Call, Cast, Expression, Literal, children, rewrite
from ouzel.compiler.functions.kernel import lower
from ouzel.errors import NotSupported
from ouzel.runtime.operators.buffers import Mask

MOST_PARTS = 8
"""The most failing parts of an expression that are told apart in one batch."""


def culprits(expression: Expression, frame: pl.DataFrame, bad: Mask) -> Iterator[tuple[Expression, Mask]]:
    """The smallest parts that fail, each with its rows among the `bad` ones of `frame`; every bad row comes once."""
    left = bad.copy()
    for _ in range(MOST_PARTS):
        if not left.any():
            return
        first = int(left.argmax())
        part = _culprit(expression, frame[first : first + 1])
        here = left & _failing(part, frame)
        here[first] = True
        yield part, here
        left &= ~here
    if left.any():
        yield expression, left


def reasons_of(part: Expression, frame: pl.DataFrame) -> Sequence[str]:
    """Why it fails on each row of the frame, and where it was written."""
    lowered = lower(part)
    told = [None] * frame.height if lowered.told is None else frame.select(told=lowered.told)["told"].to_list()
    where = f" in {part.written}" if part.written else ""
    return [f"{one or lowered.reason}{where}" for one in told]


def describe_culprit(part: Expression) -> str:
    """The line it was written in, with carets, and what to write instead; as far as known."""
    shown = part.written.shown if part.written else ""
    return "\n".join(text for text in (shown, _advice(part)) if text)


def _advice(part: Expression) -> str:
    match part:
        case Call(function="divide" | "div" | "modulo", arguments=(_, divisor)):
            return f"divide by NULLIF({_text(divisor)}, 0) to have NULL instead"
        case Cast(operand=operand):
            return f"write TRY_CAST({_text(operand)} AS {part.type}) to have NULL instead"
    return ""


def _text(part: Expression) -> str:
    written = part.written
    return written.line[written.column : written.column + written.length] if written else str(part)


def _culprit(expression: Expression, row: pl.DataFrame) -> Expression:
    """The smallest part that makes the whole fail on this row: with NULL in its place, the whole would not fail."""
    for child in children(expression):
        if _is_failing(child, row) and not _is_failing(_without(expression, child), row):
            return _culprit(child, row)
    return expression


def _without(expression: Expression, child: Expression) -> Expression:
    return rewrite(expression, lambda part: Literal(part.type, None) if part == child else part)


def _is_failing(expression: Expression, row: pl.DataFrame) -> bool:
    return bool(_failing(expression, row).any())


def _failing(expression: Expression, frame: pl.DataFrame) -> Mask:
    """Which rows it fails on."""
    try:
        error = lower(expression).error
    except NotSupported:
        error = None
    errors = pl.lit(False) if error is None else error
    mask: Mask = frame.with_columns(errors.alias("$error"))["$error"].to_numpy().astype(bool)
    return mask
