"""COPY and INSERT INTO a file of other dialects: what to write instead, with the user's own file and format."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import PurePath

from ouzel.compiler.sql.syntax.words import Tokens, is_text, is_word

_ENDINGS = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
"""The format of a file by the end of its name; any other is CSV."""
_PRINTED = {"csv": "csv", "json": "jsonl"}
"""Formats, and what `ouzel run --format` calls them."""


def of_copy(text: str, tokens: Tokens) -> str:
    """What is wrong with COPY in a text, and what to write: of a query or a table to a file, or of a file into a table."""
    path, is_read = _path(tokens)
    form = _format(tokens, path)
    if is_read:
        options = f"('connector' = 'file', 'path' = '{path}', 'format' = '{form}')"
        created = re.search(rf"(?i)\bCREATE\s+TABLE\s+({re.escape(tokens[1].text)})\b([^;]*)", text)
        is_bare = created is not None and not re.search(r"(?i)\bWITH\s*\(", created[2])
        advice = f"add WITH {options} to CREATE TABLE {created[1]}" if created and is_bare else ""
        return f"COPY is not supported: a table reads its file itself: {advice or f'write CREATE TABLE t (...) WITH {options}'}"
    return f"COPY is not supported: {_advise(form, path)}"


def _advise(form: str, path: str) -> str:
    folder = path.removesuffix(PurePath(path).suffix) or path
    kept = f"CREATE TABLE out WITH ('connector' = 'file', 'path' = '{folder}', 'format' = '{form}') AS SELECT ..."
    return f"write the query alone, and run {compose_command(form, path)}; for a folder of parts write {kept}"


def of_written_file(tokens: Tokens) -> tuple[int, str, str] | None:
    """How many tokens the file has that an INSERT INTO names in place of a table, what is wrong, and what to write; None where it names
    a table.
    """
    if len(tokens) < 3 or not (is_word(tokens[0], "INSERT") and is_word(tokens[1], "INTO")):
        return None
    count = 1
    while len(tokens) > 3 + count and tokens[2 + count].text == "." and not is_text(tokens[2]):
        count += 2
    path = "".join(token.text for token in tokens[2 : 2 + count])
    suffix = PurePath(path).suffix.lower()
    if not is_text(tokens[2]) and suffix not in (*_ENDINGS, ".csv", ".tsv", ".txt"):
        return None
    return count, f"INSERT INTO takes a table, and {path} is a file", _advise(_ENDINGS.get(suffix, "csv"), path)


def compose_command(form: str, path: str) -> str:
    """The command that writes the answer of question.sql, as it is at the end, into a file."""
    if form in _PRINTED:
        return f"ouzel run question.sql --format {_PRINTED[form]} > {shlex.quote(path)}"
    return f"ouzel batch question.sql --output {shlex.quote(path)}"


def _path(tokens: Tokens) -> tuple[str, bool]:
    """The file behind the last TO or FROM that a text follows, and whether it is read."""
    named = [(word, path) for word, path in pairwise(tokens) if is_word(word, "TO", "FROM") and is_text(path)]
    return (named[-1][1].text, is_word(named[-1][0], "FROM")) if named else ("out.csv", False)


def _format(tokens: Tokens, path: str) -> str:
    """What FORMAT says, else what the name of the file says."""
    for word, follows in pairwise(tokens):
        if is_word(word, "FORMAT") and follows.text.lower() in ("csv", "json", "parquet"):
            return follows.text.lower()
    return _ENDINGS.get(PurePath(path).suffix.lower(), "csv")
