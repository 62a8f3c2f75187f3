"""What to write for records that a source could not read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ouzel.compiler.functions.parsing import WORDS_OF_BOOLEAN
from ouzel.compiler.functions.pattern_casts import cast_of_pattern
from ouzel.connectors.dead_letters import RefusedRecord
from ouzel.connectors.formats.json.broken import ONE_A_LINE, advise_lines
from ouzel.connectors.misfits import (
    MisfitText,
    NumberSigns,
    advise_utf8,
    find_day_patterns,
    find_decimal,
    find_misfit,
    find_null_word,
    find_signs,
    python_pattern,
    quote_text,
)

READ_ON = "the table's option 'bad.record' = 'skip' or 'dead-letter' goes on without such records"
"""The advice for a record that cannot be read."""

READ_ON_IN_PYTHON = (
    "the source's option bad_record='skip', or 'dead-letter' with dead_letter_path='path', goes on without such records"
)
"""The same for a source of a program."""

_TEXTS = 1000
"""The most bad records that are looked at for how their values are written."""


def advise_of_unread(bad: Sequence[RefusedRecord], read: int, in_python: bool, null: str) -> str:
    """What to write for the first of these records, beside which so many could be read; `null` is what the source reads as NULL."""
    read_on = READ_ON_IN_PYTHON if in_python else READ_ON
    advice = _of_decimal(bad[0], in_python) or _of_file(bad[0], in_python) or _of_null(bad[0], in_python, null)
    advice = advice or _of_value(bad[:_TEXTS], in_python)
    if not advice:
        return read_on
    return advice if not read and len(bad) > 1 else f"{advice}; otherwise {read_on}"


def _of_decimal(bad: RefusedRecord, in_python: bool) -> str:
    declared = find_decimal(bad.reason)
    if declared is None:
        return ""
    column, kind = declared
    shown = f"{column}: Annotated[Decimal, '{kind}']" if in_python else f"{column} {kind}"
    return f"declare {shown}, which takes it"


def _of_file(bad: RefusedRecord, in_python: bool) -> str:
    """What is to be done with the file itself."""
    file = bad.where.rpartition(":")[0]
    if not file or not Path(file).is_file():
        return ""
    if " not UTF-8" in bad.reason:
        return f"if the file is Latin-1, `{advise_utf8(file)}` makes one of UTF-8"
    if not bad.reason.endswith(ONE_A_LINE):
        return ""
    if bad.reason.startswith("it begins a JSON array"):
        option = "json_array='true'" if in_python else "'json.array' = 'true'"
        return f"the option {option} reads a file that is one array"
    return f"if objects stand over several lines, {advise_lines(file)}"


def _of_null(bad: RefusedRecord, in_python: bool, null: str) -> str:
    """How a word is read as NULL; what the source reads so is one text, and no list."""
    word, misfit = find_null_word(bad.reason, bad.raw), find_misfit(bad.reason)
    if not word or misfit is None:
        return ""
    if not null:
        option = f"the source's option csv_null='{word}'" if in_python else f"the table's option 'csv.null' = '{word}'"
        return f"if '{word}' stands for NULL, {option} reads it so"
    parts = [part.strip() for part in re.split("[,;|]", null)]
    words, name = (parts if word in parts else [word]), "csv_null" if in_python else "csv.null"
    read = _column(misfit.column)
    for each in words:
        read = f"NULLIF({read}, {quote_text(each)})"
    call = f"CAST({read} AS {misfit.type})"
    if in_python:
        call = f"None if record.{misfit.column} in {tuple(words)} else record.{misfit.column}"
    meant = "one text and no list, so leave it out" if word in parts else f"'{null}' already, and it is one text"
    return f"'{name}' is {meant}; {_declare(misfit, call, in_python)}"


def _of_value(bad: Sequence[RefusedRecord], in_python: bool) -> str:
    """How values that are written in another way are read as texts, and made values of the type."""
    misfit = find_misfit(bad[0].reason)
    if misfit is None:
        return ""
    others = (found for each in bad if (found := find_misfit(each.reason)) and found.column == misfit.column)
    texts = list(dict.fromkeys(other.text.strip() for other in others))
    if misfit.type == "BOOLEAN":
        return _of_boolean(misfit, texts, in_python)
    if misfit.type in ("DATE", "TIMESTAMP"):
        patterns = find_day_patterns(texts) or find_day_patterns(texts[:1])
        calls = [_day_call(misfit, pattern, in_python) for pattern in patterns]
        shown = f"{calls[0]}, or {calls[1]} if the month is first" if len(calls) > 1 else "".join(calls)
        return _declare(misfit, shown, in_python) if calls else ""
    if not re.match("[A-Z]*INT$|FLOAT|DOUBLE|DECIMAL", misfit.type):
        return ""
    signs = find_signs(texts) or find_signs(texts[:1])
    return _of_number(misfit, signs, in_python) if signs else ""


def _of_boolean(misfit: MisfitText, texts: Sequence[str], in_python: bool) -> str:
    text = misfit.text.strip()
    if not text or len(text) > 12:
        return ""
    is_word = all(each.lower() in WORDS_OF_BOOLEAN for each in texts)
    column = _column(misfit.column)
    call = f"CAST({column} AS BOOLEAN)" if is_word else f"{column} = {quote_text(text)}"
    return _declare(misfit, f"record.{misfit.column} == {text!r}" if in_python else call, in_python)


def _of_number(misfit: MisfitText, signs: NumberSigns, in_python: bool) -> str:
    def call(each: NumberSigns) -> str:
        if in_python:
            return f"Decimal({each.read_in_python(f'record.{misfit.column}')})"
        return f"CAST({each.read(_column(misfit.column))} AS {each.fit(misfit.type)})"

    return _declare(misfit, signs.advise(call), in_python)


def _day_call(misfit: MisfitText, pattern: str, in_python: bool) -> str:
    if in_python:
        day = ".date()" if misfit.type == "DATE" else ""
        return f"datetime.strptime(record.{misfit.column}, {python_pattern(pattern)!r}){day}"
    column, kind = _column(misfit.column), misfit.type
    if re.search(r"(?<![dMH])[dMH](?![dMH])", pattern):  # TO_DATE reads two digits each
        runs = ((run[0] or run[1], bool(run[0])) for run in re.findall(r"(y+|M+|d+|H+|m+|s+)|('T'|.)", pattern))
        return cast_of_pattern(column, pattern, ((run.strip("'"), letters) for run, letters in runs), kind, tried=False)
    return f"TO_{kind}({column}, {quote_text(pattern)})"


def _declare(misfit: MisfitText, call: str, in_python: bool) -> str:
    if in_python:
        return f"declare {misfit.column}: str, and in a step write {call}"
    return f"declare {_column(misfit.column)} VARCHAR, and in the query write {call}"


def _column(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
