"""Which part of an expression fails on a row. Looked for only when one has failed: the kernel itself computes the whole at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from ouzel.compiler.coercion import is_numeric
from ouzel.compiler.expressions import (
    Call,
    Cast,
    Column,
    Expression,
    Literal,
    SourceLocation,
    children,
    rewrite,
)
from ouzel.compiler.functions.arithmetic import ZERO
from ouzel.compiler.functions.formats import split_pattern
from ouzel.compiler.functions.kernel import lower
from ouzel.compiler.functions.pattern_casts import cast_of_pattern
from ouzel.compiler.types import VARCHAR
from ouzel.connectors.misfits import NumberSigns, find_signs
from ouzel.errors import NotSupported
from ouzel.runtime.operators.buffers import Mask

_TEXTS = 1000
"""The most texts of a batch that are looked at for the signs of their numbers."""

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
    own = _own_reasons(part, frame)
    return [f"{one or reason}{where}" for one, reason in zip(told, own, strict=True)]


def _own_reasons(part: Expression, frame: pl.DataFrame) -> Sequence[str]:
    """Of each row what is wrong in this part, without what could be wrong in the parts that it is computed of."""
    reason = lower(_of_columns(part)).reason or lower(part).reason
    match part:
        case Call(function="divide" | "div" | "modulo" | "pmod", arguments=(_, divisor)):
            zero = frame.with_columns(zero=(lower(divisor).value == 0).fill_null(False))["zero"]
            other = " or ".join(one for one in reason.split(" or ") if one != ZERO) or reason
            return [ZERO if each else other for each in zero]
    return [reason] * frame.height


def _of_columns(part: Expression) -> Expression:
    """The part over columns in place of what it computes of."""

    def plain(number: int, one: Expression) -> Expression:
        return one if isinstance(one, Literal) else Column(one.type, f"${number}")

    match part:
        case Call(arguments=arguments):
            return replace(part, arguments=tuple(plain(number, one) for number, one in enumerate(arguments)))
        case Cast(operand=operand):
            return replace(part, operand=plain(0, operand))
    return part


def describe_culprit(part: Expression, frame: pl.DataFrame) -> str:
    """The line it was written in, with carets, and what to write instead for the rows of the frame, which fail; as far as known."""
    shown = part.written.shown if part.written else ""
    return "\n".join(text for text in (shown, advise_of_signs(part, frame) or _advice(part)) if text)


def advise_of_signs(part: Expression, frame: pl.DataFrame) -> str:
    """What to write where texts are numbers with other signs than CAST reads, as a decimal comma; empty for all else."""
    if not isinstance(part, Cast) or part.operand.type != VARCHAR or not is_numeric(part.type):
        return ""
    if part.written is None and part.operand.written is None:
        return ""
    texts = frame.select(text=lower(part.operand).value)["text"].drop_nulls().head(_TEXTS)
    signs = find_signs(texts.to_list())
    if signs is None:
        return ""
    written = _operand(part, part.operand)
    never = "" if part.safe or signs.may_part_thousands else "; TRY_CAST would make it NULL, which a sum leaves out"
    return f"write {signs.advise(lambda each: _recast(part, each, written))}{never}"


def _recast(part: Cast, signs: NumberSigns, written: str) -> str:
    """The cast of texts whose signs are read."""
    return f"{'TRY_' * part.safe}CAST({signs.read(written)} AS {signs.fit(str(part.type))})"


def _advice(part: Expression) -> str:
    match part:
        case Call(function="divide" | "div" | "modulo" | "pmod", arguments=(_, divisor)):
            if isinstance(divisor, Literal):
                return "write a divisor that is not 0, or NULL for no quotient"
            return f"divide by NULLIF({_operand(part, divisor)}, 0) to have NULL instead"
        case Call(function="to_date" | "to_timestamp", arguments=(text, *pattern)):
            return _advice_of_text(part, text, *pattern)
        case Call(function="only_value"):
            before = part.written.line[: part.written.column] if part.written is not None else ""
            several = "write IN for =, or " * bool(re.search(r"(?<![<>!])=\s*$", before))
            return f"{several}select an aggregate, as MAX(column), or the first row: ORDER BY column LIMIT 1"
        case Cast(operand=operand) if part.written is not None or operand.written is not None:
            return f"write TRY_CAST({_operand(part, operand)} AS {part.type}) to have NULL instead"
    return ""


def _advice_of_text(part: Expression, text: Expression, pattern: Expression | None = None) -> str:
    """What to write where a text is no date or time."""
    written = text.written.part if text.written else str(text)
    if isinstance(pattern, Literal) and isinstance(form := pattern.value, str):
        if cast := cast_of_pattern(written, form, split_pattern(form), str(part.type).removesuffix("(6)")):
            return f"write {cast} to have NULL instead"
        call = part.written.part if part.written else str(part)
        return f"write CASE WHEN {written} RLIKE '...' THEN {call} END to have NULL for texts of another form"
    kind = str(part.type).removesuffix("(6)")
    return f"write TRY_CAST({written} AS {kind}) to have NULL instead, or give the pattern of the text: TO_{kind}({written}, 'dd.MM.yyyy')"


_LAST_OPERAND = re.compile(r".*(?:[/%,]|\bDIV\b)\s*([^()/%,]+)\)?$", re.IGNORECASE | re.DOTALL)
_CAST_OPERAND = re.compile(r"CAST\s*\((.*)\sAS\s[^()]+(?:\([^()]*\))?\)$|(.*?)::.*$", re.IGNORECASE | re.DOTALL)


def _operand(part: Expression, operand: Expression) -> str:
    """What the user wrote for the last operand of a part, which may be the name of what a view computes."""
    while isinstance(operand, Cast) and operand.written is None:  # nobody wrote it
        operand = operand.operand
    whole, own = part.written, operand.written
    if whole is None or (own is not None and _is_within(own, whole)):
        return own.part if own else str(operand)
    found = (_CAST_OPERAND if isinstance(part, Cast) else _LAST_OPERAND).match(whole.part)
    return next((text.strip() for text in found.groups() if text), "") if found else str(operand)


def _is_within(one: SourceLocation, whole: SourceLocation) -> bool:
    end = whole.column + whole.length
    return one.number == whole.number and whole.column <= one.column and one.column + one.length <= end


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
