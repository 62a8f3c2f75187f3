"""One file of SQL as text and tokens: places for errors, statements split at `;`, hints lifted out.

All positions are offsets into the user's text, whatever is rewritten later, so that every error can point at what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from ouzel.compiler.expressions import SourceLocation
from ouzel.compiler.functions.known import Functions
from ouzel.compiler.sql.syntax.words import KEYWORDS, settle
from ouzel.compiler.sql.syntax.words import Tokens as Tokens
from ouzel.compiler.sql.syntax.words import is_word as is_word
from ouzel.errors import QueryError

Span = tuple[int, int]
"""Offsets of the first character and of the one behind the last."""


class _SqlTokenizer(Tokenizer):
    """Flink's and Postgres's lexical rules at once."""

    IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
    HEX_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("x'", "'"), ("X'", "'")]
    KEYWORDS: ClassVar[dict[str, TokenType]] = KEYWORDS
    COMMANDS: ClassVar[set[TokenType]] = set()  # sqlglot would swallow all that follows SET or EXPLAIN as one string


_SKIPPED_OR_HINT = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|/\*\+(?P<hint>.*?)\*/|/\*.*?\*/""", re.DOTALL
)


_CLOSING, _OPENING = re.compile(r"\s*\)"), re.compile(r"\(\s*$")

_QUOTES = frozenset("'\"`")


@dataclass(frozen=True)
class Comment:
    """A comment: where it begins, the offset behind it, and what it says, without signs and empty lines."""

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class QueryText:
    """The text a user wrote, the functions that it may call, and the time zone of its session.

    `clocks` are columns that are PROCTIME(), in lower case.
    """

    text: str
    functions: Functions = field(default_factory=Functions, repr=False)
    zone: str = field(default="UTC", kw_only=True)
    clocks: set[str] = field(default_factory=set, compare=False, repr=False)
    _notes: dict[tuple[str, str], list[Span]] = field(default_factory=dict, compare=False, repr=False)

    def note(self, problem: str, span: Span, instead: str) -> None:
        """Add a note on what is allowed but hardly meant; equal notes of several places are one."""
        spans = self._notes.setdefault((problem, instead), [])
        if span not in spans:
            spans.append(span)

    def notes(self) -> tuple[str, ...]:
        """All notes, each with the first of its places."""
        return tuple(
            str(self.error(f"{problem}{f' (here and in {len(spans) - 1} more)' * (len(spans) > 1)}", spans[0], instead))
            for (problem, instead), spans in self._notes.items()
        )

    def error(self, problem: str, span: Span, instead: str = "", kind: type[QueryError] = QueryError) -> QueryError:
        """An error that points at `span`."""
        start, end = span
        return kind(problem, instead=instead, text=self.text, at=start, length=max(1, end - start))

    def locate(self, span: Span) -> SourceLocation:
        """The place of `span`, with the parentheses that belong to its ends; of several lines the first."""
        start, end = self.with_parentheses(*span)
        first = self.text.rfind("\n", 0, start) + 1
        line = self.text[first:].partition("\n")[0].rstrip("\r")
        column = start - first
        return SourceLocation(
            line, self.text.count("\n", 0, start) + 1, column, max(1, min(end - start, len(line) - column))
        )

    def span(self, location: SourceLocation) -> Span:
        """The offsets of what `locate` has found."""
        before = self.text.split("\n")[: location.number - 1]
        start = sum(len(line) + 1 for line in before) + location.column
        return start, start + location.length

    def with_parentheses(self, start: int, end: int) -> Span:
        """As far out as opens and closes what is not between the two, if it stands there: the parser keeps no place of parentheses."""
        signs = [1 if sign == "(" else -1 for sign in self.text[start:end] if sign in "()"]
        unopened = -min(accumulate(signs, initial=0))
        for _ in range(unopened + sum(signs)):
            behind = _CLOSING.match(self.text, end)
            end = behind.end() if behind else end
        for _ in range(unopened):
            before = _OPENING.search(self.text[:start])
            start = before.start() if before else start
        return start, end

    def tokens(self) -> list[Token]:
        """All tokens, hints left out.

        Raises:
            QueryError: a string, an identifier or a comment has no end.
        """
        blanked = _SKIPPED_OR_HINT.sub(_blank_hint, self.text)
        try:
            return settle(list(_SqlTokenizer().tokenize(blanked)))
        except TokenError as error:
            raise self._make_unterminated_error(str(error)) from None

    def hints(self) -> list[tuple[int, str]]:
        """Each `/*+ ... */`: the offset of what is between the signs, and that text."""
        return [(m.start("hint"), m["hint"]) for m in _SKIPPED_OR_HINT.finditer(self.text) if m["hint"] is not None]

    def comments(self) -> list[Comment]:
        """The comments, in order; hints are none."""
        signs = ("--", "/*")
        return [
            Comment(m.start(), m.end(), _lines_of(m[0]))
            for m in _SKIPPED_OR_HINT.finditer(self.text)
            if m[0].startswith(signs) and m["hint"] is None
        ]

    def blank_out(self) -> str:
        """The text with blanks instead of strings, quoted names and comments."""
        return _SKIPPED_OR_HINT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), self.text)

    def _make_unterminated_error(self, message: str) -> QueryError:
        opened = re.search(r"Missing (\S+) from (\d+):(\d+)", message)
        rest = _SKIPPED_OR_HINT.sub(lambda m: " " * len(m[0]), self.text)
        quote = re.search(r"""['"`]|/\*""", rest)
        at = quote.start() if quote else len(self.text) - 1
        self._refuse_suspects(at)
        sign = quote[0] if quote else (opened[1] if opened else "?")
        closing = "*/" if sign == "/*" else sign
        return self.error(
            f"{sign} is opened here and never closed", (at, at + len(sign)), f"write {closing} where it ends"
        )

    def _refuse_suspects(self, end: int) -> None:
        """Where quotes do not add up before `end`, the first text that looks torn is the likely place, not the last quote of the file.

        Raises:
            QueryError: there is one.
        """
        for m in _SKIPPED_OR_HINT.finditer(self.text, 0, end):
            sign = m[0][0]
            if sign not in _QUOTES:
                continue
            if "\n" in m[0]:
                at = m.start()
                raise self.error(
                    f"{sign} is opened here and not closed on its line, and further on there is one too many",
                    (at, at + 1),
                    f"write {sign} where it ends",
                )
            if re.match(r"\w", self.text[m.end() : m.end() + 1]):
                advice = f"write {sign}{sign} for each {sign} in it, or close it earlier"
                raise self.error("a name or a number follows this text at once", m.span(), advice)


def _lines_of(comment: str) -> tuple[str, ...]:
    body = comment[2:-2] if comment.startswith("/*") else comment[2:]
    return tuple(filter(None, (line.strip().strip("*-").strip() for line in body.split("\n"))))


def _blank_hint(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0]) if match["hint"] is not None else match[0]


def span_of(tokens: Tokens) -> Span:
    """From the first token to the last."""
    return (tokens[0].start, tokens[-1].end + 1)


def split_statements(tokens: Tokens) -> list[list[Token]]:
    """The statements between semicolons; empty ones are dropped."""
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            statements.append([])
        else:
            statements[-1].append(token)
    return [statement for statement in statements if statement]


def depth_change(token: Token) -> int:
    """How a token changes the depth of nesting: +1, -1 or 0."""
    if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET):
        return 1
    return -1 if token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET) else 0


def clauses_at_top(tokens: Tokens) -> dict[tuple[str, str], Span]:
    """Where ORDER BY and LIMIT stand that are of the whole query."""
    found, depth = {}, 0
    for token in tokens:
        depth += depth_change(token)
        word = "LIMIT" if is_word(token, "FETCH") else token.text.upper()
        if depth == 0 and is_word(token, "ORDER BY", "LIMIT", "FETCH"):
            found[word, ""] = span_of([token])
    return found


def matching(tokens: Tokens, opening: int) -> int | None:
    """Index of the bracket that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += depth_change(tokens[index])
        if depth == 0:
            return index
    return None


def closing_behind(tokens: Tokens, start: int) -> int | None:
    """Index of the bracket that closes what `start` stands in."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += depth_change(tokens[index])
        if depth < 0:
            return index
    return None
