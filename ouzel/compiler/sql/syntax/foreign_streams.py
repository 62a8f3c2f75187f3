"""CREATE STREAM of ksqlDB and CREATE SINK of RisingWave, in our words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, matching

_OPTION = re.compile(r"['\"`]?([\w.]+)['\"`]?\s*=\s*('(?:[^']|'')*'|\"[^\"]*\"|[\w.]+)")
"""An option and its value, however both are quoted."""

_KEY = re.compile(r"([(,]\s*)([\w`\"]+)(\s+[^,()]+?)\s+(?:PRIMARY\s+)?KEY\b", re.IGNORECASE)
_ENCODE = re.compile(r"\bFORMAT\s+\w+\s+ENCODE\s+(\w+)", re.IGNORECASE)
_SHOWN = 300
"""Characters of columns or of a query that are written out."""

_OF_KSQL = {"kafka_topic": "topic", "value_format": "format", "format": "format", "value_delimiter": "csv.delimiter"}
_FORMATS = {"delimited": "csv", "avro": "avro-confluent", "json_sr": "json", "kafka": "raw", "bytes": "raw"}
_OF_RISINGWAVE = {"properties.bootstrap.server": "bootstrap.servers"}
_NEEDLESS = ("type", "primary_key", "force_append_only", "snapshot")
"""Options of RisingWave that say what a table here knows by its columns and its query."""


def kafka_options(written: Mapping[str, str]) -> str:
    """The WITH for ksqlDB's options of a topic; empty if they name none."""
    given = {ours: written[theirs] for theirs, ours in _OF_KSQL.items() if theirs in written}
    if "topic" not in given:
        return ""
    form = given.get("format", "json").lower()
    options = {"bootstrap.servers": "localhost:9092", **given, "format": _FORMATS.get(form, form)}
    return f"WITH ({_show_options({'connector': 'kafka', **options})})"


def of_stream(source: QueryText, tokens: Tokens) -> str:
    """What says the same as a CREATE STREAM; empty where it does not say enough."""
    name, opens, query = _name(tokens, "STREAM"), _opening(tokens), _query(source, tokens)
    options = kafka_options(_options(source, tokens))
    if not name or (query and not opens):
        kind = f"TABLE {name} {options}" if options else f"VIEW {name}"
        return f"CREATE {kind} AS {query}" if name else ""
    if not options or not opens:
        return ""
    end = matching(tokens, opens)
    columns = source.text[tokens[opens].start : tokens[end].end + 1] if end else ""
    key = _KEY.search(columns)
    options = options[:-1] + f", 'key.field' = '{key[2]}')" if key else options
    columns = _KEY.sub(r"\1\2\3", columns)
    return f"CREATE TABLE {name} {columns if 0 < len(columns) <= _SHOWN else '(...)'} {options}"


def of_sink(source: QueryText, tokens: Tokens) -> str:
    """What says the same as a CREATE SINK; empty where it does not say enough."""
    name, query = _name(tokens, "SINK"), _query(source, tokens)
    text = source.text[tokens[0].start : tokens[-1].end + 1]
    read = re.search(r"\bFROM\s+([\w.`\"]+)", text, re.IGNORECASE)
    query = query or (f"SELECT * FROM {read[1]}" if read else "")
    into = re.search(r"\bINTO\s+([\w.`\"]+)", text.partition("SELECT")[0], re.IGNORECASE)
    if into and query:
        return f"INSERT INTO {into[1]} {query}"
    given = {
        _OF_RISINGWAVE.get(key, key): value for key, value in _options(source, tokens).items() if key not in _NEEDLESS
    }
    if encoded := _ENCODE.search(text):
        given.setdefault("format", encoded[1].lower())
    return (
        f"CREATE TABLE {name} WITH ({_show_options(given)}) AS {query}"
        if name and query and "connector" in given
        else ""
    )


def _show_options(options: Mapping[str, str]) -> str:
    return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())


def _name(tokens: Tokens, kind: str) -> str:
    """What stands behind the kind of thing that is created."""
    at = next((at for at, token in enumerate(tokens[:4]) if is_word(token, kind)), len(tokens)) + 1
    words = [token.text for token in tokens[at : at + 4]]
    words = words[3:] if [word.upper() for word in words[:3]] == ["IF", "NOT", "EXISTS"] else words
    return words[0] if words else ""


def _opening(tokens: Tokens) -> int | None:
    """Where the columns begin."""
    with_at = next((at for at, token in enumerate(tokens) if is_word(token, "WITH", "AS", "FROM")), len(tokens))
    return next((at for at, token in enumerate(tokens[:with_at]) if token.text == "("), None)


def _query(source: QueryText, tokens: Tokens) -> str:
    """The query behind AS, up to its WITH."""
    begins = next(
        (at + 1 for at, token in enumerate(tokens[:-1]) if is_word(token, "AS") and is_word(tokens[at + 1], "SELECT")),
        None,
    )
    if begins is None:
        return ""
    ends = next(
        (at for at in range(begins, len(tokens) - 1) if is_word(tokens[at], "WITH") and tokens[at + 1].text == "("),
        len(tokens),
    )
    written = source.text[tokens[begins].start : tokens[ends - 1].end + 1]
    return re.sub(r"\s+EMIT\s+CHANGES$", "", written, flags=re.IGNORECASE) if len(written) <= _SHOWN else "SELECT ..."


def _options(source: QueryText, tokens: Tokens) -> dict[str, str]:
    """What WITH holds, by keys in small letters, without quotes."""
    at = next((at for at in range(len(tokens) - 1) if is_word(tokens[at], "WITH") and tokens[at + 1].text == "("), None)
    end = matching(tokens, at + 1) if at is not None else None
    if at is None or end is None:
        return {}
    pairs: Iterable[tuple[str, str]] = _OPTION.findall(source.text[tokens[at + 1].end + 1 : tokens[end].start])
    return {key.lower(): value.strip("'\"") for key, value in pairs}
