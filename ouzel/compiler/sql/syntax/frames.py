"""The frame of a window, read from its tokens: `ROWS BETWEEN 5 PRECEDING AND CURRENT ROW`."""

from __future__ import annotations

import re

from ouzel.compiler.plan import FrameKind, WindowFrame
from ouzel.compiler.sql.expressions.literals import interval_us, number, row_count
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, is_word, span_of
from ouzel.compiler.sql.syntax.words import is_numeral
from ouzel.compiler.types import DecimalType
from ouzel.errors import NotSupported

FRAME = "ouzel.frame"
"""Where sqlglot's node of a frame keeps what `read_frame` says of it."""

_CALENDAR = ("MONTH", "MONTHS", "YEAR", "YEARS", "QUARTER", "QUARTERS")


def read_frame(source: QueryText, tokens: Tokens) -> tuple[WindowFrame, bool]:
    """The frame, and whether its bounds are spans of time.

    Raises:
        QueryError: a frame that makes no sense.
        NotSupported: EXCLUDE.
    """
    span = span_of(tokens)
    exclude = next((at for at, token in enumerate(tokens) if is_word(token, "EXCLUDE")), None)
    if exclude is not None:
        raise source.error("EXCLUDE is not supported", span_of(tokens[exclude:]), "leave it out", NotSupported)
    kind = FrameKind(tokens[0].text.upper())
    start, end = _bounds(source, tokens[1:], span)
    timed = any(is_word(token, "INTERVAL") for token in tokens)
    if kind is not FrameKind.RANGE and not timed:
        for bound in filter(None, (start, end)):
            row_count(source, str(abs(bound)), span)
    return WindowFrame(kind, start, end), timed


def _bounds(source: QueryText, tokens: Tokens, span: Span) -> tuple[int | None, int | None]:
    parts = [list(tokens), None]
    if is_word(tokens[0], "BETWEEN"):
        middle = next((at for at, token in enumerate(tokens) if is_word(token, "AND")), None)
        if middle is None:
            raise source.error("this frame has no AND", span, "write BETWEEN 5 PRECEDING AND CURRENT ROW")
        parts = [list(tokens[1:middle]), list(tokens[middle + 1 :])]
    first, second = parts
    start, is_end = _read_bound(source, first or [], span)
    end, is_start = (0, False) if second is None else _read_bound(source, second, span)
    backwards = start is not None and end is not None and start > end
    if (start is None and is_end) or (second is not None and end is None and not is_start) or backwards:
        begin, finish = (source.text[slice(*span_of(part))] if part else "CURRENT ROW" for part in (first, second))
        advice = f"write the earlier bound first: BETWEEN {finish} AND {begin}"
        raise source.error("this frame ends before it begins, so it holds no row", span, advice)
    return start, end


def _read_bound(source: QueryText, tokens: Tokens, span: Span) -> tuple[int | None, bool]:
    """A bound as a signed number, None if there is none; and whether it is FOLLOWING."""
    words = [token.text.upper() for token in tokens]
    following = words[-1:] == ["FOLLOWING"]
    if words == ["CURRENT", "ROW"]:
        return 0, False
    if words[-1:] in (["PRECEDING"], ["FOLLOWING"]) and len(words) > 1:
        if words[0] == "UNBOUNDED":
            return None, following
        return _amount(source, tokens[:-1], span) * (1 if following else -1), following
    raise source.error(
        "this is no bound of a frame", span_of(tokens) if tokens else span,
        "write UNBOUNDED PRECEDING, 5 PRECEDING, CURRENT ROW, 5 FOLLOWING or UNBOUNDED FOLLOWING",
    )  # fmt: skip


def _amount(source: QueryText, tokens: Tokens, span: Span) -> int:
    if len(tokens) == 1 and is_numeral(tokens[0]) and tokens[0].text.isdigit():
        if isinstance(number(tokens[0].text).type, DecimalType):
            raise source.error("this bound is more than a BIGINT holds", span, "write UNBOUNDED")
        return int(tokens[0].text)
    if is_word(tokens[0], "INTERVAL"):
        if any(is_word(token, *_CALENDAR) for token in tokens):
            raise source.error("a frame of months has no fixed length", span, "write it in days", NotSupported)
        return interval_us(source, tokens, span_of(tokens))
    advice = "write ROWS 5 PRECEDING"
    if found := re.fullmatch(
        r"(\d+) *(SECOND|MINUTE|HOUR|DAY)S?", tokens[0].text.upper()
    ):  # '10 minutes', as Postgres has it
        advice = f"write RANGE INTERVAL '{found[1]}' {found[2]} PRECEDING"
    if len(tokens) == 2 and is_numeral(tokens[0]) and not is_word(tokens[1], *_CALENDAR):
        advice = f"write RANGE INTERVAL '{tokens[0].text}' {tokens[1].text.upper()} PRECEDING"
    raise source.error("a frame is bounded by a number or an interval", span, advice)
