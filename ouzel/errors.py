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

import re

WIDEST = 160
"""A longer line is shown around its place alone."""

_AROUND = 4096
"""Letters before and behind a place in which secrets are looked for; far more than are shown."""

_WORDS = r"pas+w|passphrase|pass(?=['\"`\s=])|pwd|secret|token|credential|api.?key|access.?key|private.?key|key\.pem|sasl\.jaas"
_NAMES = rf"[\w.\-]{{0,64}}(?:{_WORDS})[\w.\-]{{0,64}}"
_QUOTED = r"'(?:[^']|'')*(?:'|$)|\"[^\"]*(?:\"|$)"
_SECRET = re.compile(
    rf"""(?P<name>['"`]?{_NAMES}['"`]?\s*(?:=>|=|:)?\s*)(?P<value>{_QUOTED})"""  # 'password' = '...'
    rf"""|(?P<bare_name>'{_NAMES}'?\s*=\s*)(?P<bare>[^\s,)'"]+)"""  # 'password' = ..., without its quotes
    r"""|(?P<user>://[^\s:/@'"]*:)(?P<word>[^\s@'"]+)(?=@)""",  # redis://user:...@host
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"\$\{(?:env|file):[^}]+\}")


def mask_secrets(text: str) -> str:
    """The text of a query with asterisks, as many, for what looks like a secret and does not only say where one is."""
    return _SECRET.sub(_hide, text)


def _without_secrets(sentence: str, text: str) -> str:
    """A sentence about a text that quotes no secret of it."""
    for found in _SECRET.finditer(text):
        quoted = f"'{_value(found)}'"
        if mask_secrets(found[0]) != found[0] and quoted in sentence:
            sentence = sentence.replace(quoted, "'***'")
    return sentence


def _value(found: re.Match[str]) -> str:
    return (found["value"] or found["bare"] or found["word"]).strip("'\"")


def _hide(found: re.Match[str]) -> str:
    before = found["name"] or found["bare_name"] or found["user"]
    if not (value := _value(found)) or _ELSEWHERE.search(value):
        return found[0]
    return before + re.sub(r"[^\n]", "*", found[0][len(before) :])


class OuzelError(Exception):
    """Base of everything raised on purpose; its text is one sentence that a user can act on."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it, which calls this."""
        from ouzel.callers import render_in_notebook

        return render_in_notebook(self)


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
        around = slice(max(0, self.at - _AROUND), max(0, self.at) + _AROUND)
        sentence = f"{self.problem}; {self.instead}" if self.instead else self.problem
        sentence = _without_secrets(sentence, self.text[around])
        if self.at < 0 or not self.text:
            return sentence
        before = self.text[: self.at]
        number = before.count("\n") + 1
        column = self.at - (before.rfind("\n") + 1)
        shown = self.text[: around.start] + mask_secrets(self.text[around]) + self.text[around.stop :]
        line = shown.split("\n")[number - 1].rstrip("\r")
        return f"line {number}, column {column + 1}: {sentence}\n{_pointed_at(line, column, self.length)}"


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
