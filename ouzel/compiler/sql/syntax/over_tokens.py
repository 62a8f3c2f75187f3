"""The tokens of OVER and WINDOW: what is structure there stays, and a frame becomes one word, for sqlglot knows no GROUPS."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.plan import FrameKind, WindowFrame
from ouzel.compiler.sql.expressions.literals import interval_us, number, row_count
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, depth_change, is_word, matching, span_of
from ouzel.compiler.types import DecimalType
from ouzel.errors import NotSupported

FRAME = "frame "
"""Prefix of the word that stands for a frame."""

_KINDS = tuple(kind.value for kind in FrameKind)
_BOUND = ("BETWEEN", "UNBOUNDED", "CURRENT", "INTERVAL")
_CALENDAR = ("MONTH", "MONTHS", "YEAR", "YEARS", "QUARTER", "QUARTERS")

Edits = dict[int, list[Token]]


def window_edits(source: QueryText, tokens: Tokens) -> Edits:
    """What becomes of the tokens of every window, by their index.

    Raises:
        QueryError: a frame that makes no sense.
        NotSupported: EXCLUDE.
    """
    edits: Edits = {}
    for index, token in enumerate(tokens):
        if is_word(token, "OVER") and _follows_call(tokens, index):
            edits[index] = [token]
            _window(source, tokens, index + 1, edits)
        elif is_word(token, "WINDOW") and _defines(tokens, index):
            edits[index] = [token]
            _definitions(source, tokens, index + 1, edits)
        elif is_word(token, "QUALIFY") and index:
            edits[index] = [token]
    return edits


def sort_edits(tokens: Tokens, start: int, end: int) -> Edits:
    """ASC, DESC and NULLS FIRST or LAST of an ORDER BY between these indexes, as structure."""
    edits: Edits = {}
    for at in _top_level(tokens, start, end):
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if is_word(tokens[at], "NULLS") and after is not None and is_word(after, "FIRST", "LAST"):
            edits[at], edits[at + 1] = [tokens[at]], [after]
        elif is_word(tokens[at], "ASC", "DESC") and at > start and not _begins_item(tokens[at - 1]):
            edits[at] = [tokens[at]]
    return edits


def limit_edits(tokens: Tokens, edits: Edits) -> Edits:
    """ORDER BY, LIMIT, OFFSET and FETCH of queries, as structure; those of windows are in `edits` already."""
    made: Edits = {}
    for index, token in enumerate(tokens):
        if index in edits or not index:
            continue
        if is_word(token, "ORDER BY"):
            made[index] = [token]
            made |= sort_edits(tokens, index + 1, _end_of_list(tokens, index + 1))
        elif is_word(token, "LIMIT") and tokens[index + 1 : index + 2] and is_word(tokens[index + 1], "ALL", "NULL"):
            made |= {index: [], index + 1: []}  # no bound, as in Postgres
        elif (
            is_word(token, "LIMIT", "OFFSET")
            and tokens[index + 1 : index + 2]
            and tokens[index + 1].token_type is TokenType.NUMBER
        ):
            made[index] = [token]
            if is_word(token, "OFFSET") and tokens[index + 2 : index + 3] and is_word(tokens[index + 2], "ROW", "ROWS"):
                made[index + 2] = []
        elif is_word(token, "FETCH") and tokens[index + 1 : index + 2] and is_word(tokens[index + 1], "FIRST", "NEXT"):
            last = next(
                (at for at in range(index, len(tokens)) if is_word(tokens[at], "ONLY", "TIES")), len(tokens) - 1
            )
            made |= {at: [tokens[at]] for at in range(index, last + 1)}
    return made


def _end_of_list(tokens: Tokens, start: int) -> int:
    depth = 0
    for at in range(start, len(tokens)):
        depth += depth_change(tokens[at])
        if depth < 0 or (
            depth == 0 and is_word(tokens[at], "LIMIT", "OFFSET", "FETCH", "UNION", "INTERSECT", "EXCEPT")
        ):
            return at
    return len(tokens)


def read_frame(word: str) -> tuple[WindowFrame, bool]:
    """The frame that a word of this file stands for, and whether its bounds are spans of time."""
    kind, start, end, timed = word.removeprefix(FRAME).split()
    bounds = (None if bound == "-" else int(bound) for bound in (start, end))
    return WindowFrame(FrameKind(kind), *bounds), timed == "time"


def _follows_call(tokens: Tokens, index: int) -> bool:
    """Whether it is no alias: a call stands before it, and a window or its name behind."""
    if not 0 < index < len(tokens) - 1:
        return False
    before, after = tokens[index - 1], tokens[index + 1]
    named = after.token_type in (TokenType.L_PAREN, TokenType.IDENTIFIER, TokenType.VAR)
    return named and (before.token_type is TokenType.R_PAREN or is_word(before, "NULLS"))


def _defines(tokens: Tokens, index: int) -> bool:
    return (
        index + 3 < len(tokens)
        and is_word(tokens[index + 2], "AS")
        and tokens[index + 3].token_type is TokenType.L_PAREN
    )


def _definitions(source: QueryText, tokens: Tokens, at: int, edits: Edits) -> None:
    """`w AS (...), v AS (...)`."""
    while at + 2 < len(tokens) and is_word(tokens[at + 1], "AS"):
        _window(source, tokens, at + 2, edits)
        closing = matching(tokens, at + 2)
        if closing is None or closing + 1 >= len(tokens) or tokens[closing + 1].token_type is not TokenType.COMMA:
            return
        at = closing + 2


def _window(source: QueryText, tokens: Tokens, opening: int, edits: Edits) -> None:
    if opening >= len(tokens) or tokens[opening].token_type is not TokenType.L_PAREN:
        return
    closing = matching(tokens, opening)
    if closing is None:
        return
    places, end = _top_level(tokens, opening + 1, closing), closing
    order = next((at for at in places if is_word(tokens[at], "ORDER BY")), None)
    for at in places:
        if is_word(tokens[at], "PARTITION BY", "ORDER BY"):
            edits[at] = [tokens[at]]
        elif is_word(tokens[at], *_KINDS) and _opens_frame(tokens[at + 1]):
            end = at
            break
    if order is not None:
        edits |= sort_edits(tokens, order + 1, end)
    if end < closing:
        _frame(source, tokens, (end, closing), order is None, edits)


def _opens_frame(token: Token) -> bool:
    return is_word(token, *_BOUND) or token.token_type is TokenType.NUMBER


def _frame(source: QueryText, tokens: Tokens, place: tuple[int, int], alone: bool, edits: Edits) -> None:
    """One word, an item of the ORDER BY, that says kind, bounds, and whether these are spans of time."""
    start, end = place
    span = span_of(tokens[start:end])
    exclude = next((at for at in range(start, end) if is_word(tokens[at], "EXCLUDE")), None)
    if exclude is not None:
        raise source.error("EXCLUDE is not supported", span_of(tokens[exclude:end]), "leave it out", NotSupported)
    bounds = _bounds(source, tokens[start + 1 : end], span)
    if not is_word(tokens[start], "RANGE"):
        for bound in filter(None, bounds):
            row_count(source, str(abs(bound)), span)
    timed = "time" if any(is_word(token, "INTERVAL") for token in tokens[start:end]) else "number"
    words = ("-" if bound is None else str(bound) for bound in bounds)
    word = f"{FRAME}{tokens[start].text.upper()} {' '.join(words)} {timed}"
    before = (
        Token(TokenType.ORDER_BY, "ORDER BY", *_where(span)) if alone else Token(TokenType.COMMA, ",", *_where(span))
    )
    for at in range(start, end):
        edits[at] = []
    edits[start] = [before, Token(TokenType.IDENTIFIER, word, *_where(span))]


def _where(span: Span) -> tuple[int, int, int, int]:
    return (1, 1, span[0], span[1] - 1)


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
    if (start is None and is_end) or (second is not None and end is None and not is_start):
        raise source.error("this frame ends before it begins", span, "write the earlier bound first")
    if start is not None and end is not None and start > end:
        raise source.error("this frame ends before it begins", span, "write the earlier bound first")
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
    if len(tokens) == 1 and tokens[0].token_type is TokenType.NUMBER and tokens[0].text.isdigit():
        if isinstance(number(tokens[0].text).type, DecimalType):
            raise source.error("this bound is more than a BIGINT holds", span, "write UNBOUNDED")
        return int(tokens[0].text)
    if is_word(tokens[0], "INTERVAL"):
        if any(is_word(token, *_CALENDAR) for token in tokens):
            raise source.error("a frame of months has no fixed length", span, "write it in days", NotSupported)
        return interval_us(source, tokens, span_of(tokens))
    raise source.error("a frame is bounded by a number or an interval", span, "write ROWS 5 PRECEDING")


def _begins_item(token: Token) -> bool:
    return token.token_type in (TokenType.COMMA, TokenType.DOT, TokenType.L_PAREN)


def _top_level(tokens: Tokens, start: int, end: int) -> list[int]:
    depth, found = 0, []
    for at in range(start, end):
        depth += depth_change(tokens[at])
        if depth == 0:
            found.append(at)
    return found
