"""What Ouzel raises.

OuzelError
  QueryError            the text of a query is wrong: has a position and an advice
    TypeMismatch        a function or operator does not take these types
    NotSupported        right, but this engine or version cannot do it: names the construct
  PlanError             no packing satisfies the resources asked for, or a topology is malformed
  ConnectorError        a source or sink refused: names the file, host, topic or queue
    BadRecord           one input record cannot be read or computed: names where it is
  StateError            kept state cannot be used again: names the file or the operator, and why
  TopologyError         a running topology failed: names the component and the cause
  SubmissionError       a command does not fit how a submitted topology stands: says how that is
"""

from __future__ import annotations

WIDEST = 160
"""A longer line is shown around its place alone."""


class OuzelError(Exception):
    """Base of everything raised on purpose; its text is one sentence that a user can act on."""


class QueryError(OuzelError):
    """A query is wrong: what was written, what is wrong, what to write instead.

    Args:
        problem: what is wrong, without a final full stop.
        instead: what to write instead, or an empty string.
        text: the whole text the user wrote.
        at: offset into `text`, in characters, of the token to point at; -1 when unknown.
        length: how many characters to underline.
        about: what it speaks of, for whoever knows where that was written: ("SET", key), or a hint and the name in it.
    """

    def __init__(
        self,
        problem: str,
        *,
        instead: str = "",
        text: str = "",
        at: int = -1,
        length: int = 1,
        about: tuple[str, str] | None = None,
    ) -> None:
        self.problem, self.instead, self.text, self.at, self.length = problem, instead, text, at, length
        self.about = about
        super().__init__(problem)

    def located(self, text: str, at: int, length: int = 1) -> QueryError:
        """This error with a place, unless it has one already."""
        if self.at < 0:
            self.text, self.at, self.length = text, at, length
        return self

    def __str__(self) -> str:
        advice = f"; {self.instead}" if self.instead else ""
        if self.at < 0 or not self.text:
            return f"{self.problem}{advice}"
        before = self.text[: self.at]
        number = before.count("\n") + 1
        column = self.at - (before.rfind("\n") + 1)
        line = self.text.split("\n")[number - 1].rstrip("\r")
        return f"line {number}, column {column + 1}: {self.problem}{advice}\n{_pointed_at(line, column, self.length)}"


def _pointed_at(line: str, column: int, length: int) -> str:
    """A line, or its part around a place, and carets below the place; as wide as a terminal shows its letters."""
    from unicodedata import combining, east_asian_width

    length = max(1, min(length, len(line) - column))
    start = max(0, column - WIDEST // 3) if len(line) > WIDEST else 0
    shown = line[start : start + WIDEST]
    cut = "…" if start else "", "…" if start + WIDEST < len(line) else ""
    widths = [0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in shown]
    column -= start
    before = "".join(
        letter if letter == "\t" else " " * width for letter, width in zip(shown[:column], widths, strict=False)
    )
    carets = "^" * (sum(widths[column : column + length]) or 1)
    return f"  {cut[0]}{shown}{cut[1]}\n  {' ' * len(cut[0])}{before}{carets}"


class TypeMismatch(QueryError):
    """A function or operator does not take these types; the advice says what to cast."""


class NotSupported(QueryError):
    """The construct is understood but not available here; the problem names it and says why."""


class PlanError(OuzelError):
    """The topology or its packing cannot be made as asked."""


class ConnectorError(OuzelError):
    """A source or sink refused; the text names the file, host, topic or queue."""


class BadRecord(ConnectorError):
    """One record cannot be read or computed; `where` is `file:line` or `topic[partition]@offset`, empty if no single record is meant."""

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"bad record at {where}: {reason}" if where else f"bad record: {reason}")


class StateError(OuzelError):
    """State that was kept cannot be used again."""


class TopologyError(OuzelError):
    """A running topology failed; the text names the component and the cause."""


class SubmissionError(OuzelError):
    """A command does not fit how a submitted topology stands, or there is none of that name."""
