"""A file of SQL as its statements: what is read of a text before anything of it is bound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ouzel.compiler import plan
from ouzel.compiler.functions.known import Functions
from ouzel.compiler.sql.syntax.brackets import refuse_curly_quotes
from ouzel.compiler.sql.syntax.shells import read_statement
from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, span_of, split_statements
from ouzel.compiler.sql.syntax.statements import Statement
from ouzel.compiler.sql.syntax.words import is_quoted
from ouzel.errors import NotSupported


@dataclass(frozen=True)
class TextEdit:
    """What a text that is run again has from `start` to `end` of the one that was typed."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Script:
    """The statements of a file, each with its tokens.

    Attributes:
        source: the text whose offsets are places.
        edits: what stands in the text for whoever runs it again.
    """

    source: QueryText
    statements: tuple[tuple[Statement, Tokens], ...]
    edits: tuple[TextEdit, ...] = ()


def parse_script(text: str, functions: Functions) -> Script:
    """The statements of a text, which may call these functions.

    Raises:
        QueryError: one is no statement.
    """
    source = QueryText(text, functions)
    read = []
    for tokens in _unwrap(source, split_statements(source.tokens())):
        refuse_curly_quotes(source, tokens)
        _refuse_own_names(source, tokens)
        read.append((read_statement(source, tokens), tokens))
    return Script(source, tuple(read))


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with each edit done."""
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


_OWN_NAME = re.compile(rf"\$(?:{'|'.join(sorted(plan.OWN_NAMES))})(?:_end|_time)?\d*")
_STATEMENT_SETS = (("EXECUTE", "STATEMENT", "SET", "BEGIN"), ("BEGIN", "STATEMENT", "SET"))


def _refuse_own_names(source: QueryText, tokens: Tokens) -> None:
    """A column of such a name would be taken for what an engine puts beside a row: how often it is there, or an error in it."""
    for token in tokens:
        if is_quoted(token) and _OWN_NAME.fullmatch(token.text):
            problem = f"'{token.text}' is a name of Ouzel's own for what is beside a row"
            raise source.error(problem, span_of([token]), "choose a name without the $")


def _unwrap(source: QueryText, statements: Sequence[Tokens]) -> list[Tokens]:
    """The statements without what stands around a statement set: EXECUTE STATEMENT SET BEGIN, or BEGIN STATEMENT SET;, and END."""
    out: list[Tokens] = []
    opened: Tokens = ()
    for statement in statements:
        words = next((words for words in _STATEMENT_SETS if is_word(statement[0], words[0])), ())
        if words:
            if [token.text.upper() for token in statement[: len(words)]] != [*words]:
                if len(statement) == 1 or is_word(statement[1], "TRANSACTION", "WORK", "TRAN"):
                    raise source.error(
                        "a transaction is not supported", span_of(statement), "leave BEGIN and COMMIT out", NotSupported
                    )
                raise source.error(
                    f"{words[0]} begins a statement set",
                    span_of(statement[:1]),
                    "write EXECUTE STATEMENT SET BEGIN ... END",
                )
            opened, statement = statement[: len(words)], statement[len(words) :]
        if opened and len(statement) == 1 and is_word(statement[0], "END"):
            opened = ()
        elif statement:
            out.append(statement)
    if opened:
        raise source.error("the statement set has no end", span_of(opened), "write END; after its last INSERT")
    return out
