"""CREATE TABLE as Spark and Hive have it, `USING csv OPTIONS (path 'x')` and `STORED AS CSV LOCATION 'x'`, in our words."""

from __future__ import annotations

import re

from ouzel.compiler.sql.syntax.source import QueryText, Tokens, matching

_FORMAT = re.compile(r"\b(?:USING|STORED\s+AS)\s+(csv|json|parquet|text|textfile)\b", re.IGNORECASE)
_PATH = re.compile(r"\b(?:LOCATION|path['\"]?\s*=?)\s*('(?:[^']|'')*')", re.IGNORECASE)
_NAME = re.compile(r"TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w`\".]+)", re.IGNORECASE)
_OPTIONS = re.compile(r"\b(?:OPTIONS|TBLPROPERTIES|SERDEPROPERTIES)\s*\(((?:'(?:[^']|'')*'|[^')])*)\)", re.IGNORECASE)
_OPTION = re.compile(r"['\"`]?([\w.]+)['\"`]?\s*=?\s*('(?:[^']|'')*'|\"[^\"]*\"|[\w.]+)")
_TERMINATED = re.compile(r"\bFIELDS\s+TERMINATED\s+BY\s+('(?:[^']|'')*')", re.IGNORECASE)

_OF_CSV = {
    "header": "csv.header", "skip.header.line.count": "csv.header", "sep": "csv.delimiter", "delimiter": "csv.delimiter",
    "field.delim": "csv.delimiter", "separatorchar": "csv.delimiter", "quote": "csv.quote", "quotechar": "csv.quote",
    "nullvalue": "csv.null", "serialization.null.format": "csv.null",
}  # fmt: skip
_OURS = {"csv": {**_OF_CSV, "mode": "bad.record"}, "json": {"mode": "bad.record"}}
"""What their options are called here, for each format."""
_VALUES = {
    "csv.header": {"1": "true", "0": "false"},
    "bad.record": {"PERMISSIVE": "skip", "DROPMALFORMED": "skip", "FAILFAST": "fail"},
}


def of_foreign_table(source: QueryText, tokens: Tokens) -> str:
    """The CREATE TABLE that says the same of where the rows are; empty where the statement does not say enough."""
    text = source.text[tokens[0].start : tokens[-1].end + 1]
    name, kind, path = _NAME.search(text), _FORMAT.search(text), _PATH.search(text)
    if not (name and kind and path):
        return ""
    is_delimited = re.search(r"\bROW\s+FORMAT\s+DELIMITED\b", text, re.IGNORECASE)
    shape = kind[1].lower()
    shape = ("csv" if is_delimited else "raw") if shape.startswith("text") else shape
    given, unknown = _options(text, shape)
    if given.get("csv.header") == "'false'" and (names := _names(source, tokens)):
        given["csv.columns"] = f"'{', '.join(names)}'"
    options = {"connector": "'file'", "path": path[1], "format": f"'{shape}'", **given}
    shown = ", ".join(f"'{option}' = {value}" for option, value in options.items())
    left = f", and leave out {' and '.join(unknown)}" if unknown else ""
    return f"CREATE TABLE {name[1]}{_columns(source, tokens)} WITH ({shown}){left}"


def _columns(source: QueryText, tokens: Tokens) -> str:
    """The columns as they are written, if they fit into a sentence; nothing where the file says them."""
    opens = next((at for at, token in enumerate(tokens[:8]) if token.text == "("), None)
    words = [token.text.upper() for token in tokens[:opens]]
    if opens is None or {"USING", "OPTIONS", "STORED"} & set(words):
        return ""
    end = matching(tokens, opens)
    written = source.text[tokens[opens].start : tokens[end].end + 1] if end else ""
    return f" {written}" if 0 < len(written) <= 100 and "\n" not in written else " (...)"


def _names(source: QueryText, tokens: Tokens) -> list[str]:
    """The names of the columns, which a file without a header does not say."""
    columns = _columns(source, tokens).strip()[1:-1]
    parts = re.split(r",(?![^(<]*[)>])", columns) if columns != "..." else []
    return [part.split()[0].strip('`"') for part in parts if part.strip()]


def _options(text: str, shape: str) -> tuple[dict[str, str], list[str]]:
    """The options besides the path in our names, and those that we do not have."""
    written = [pair for found in _OPTIONS.finditer(text) for pair in _OPTION.findall(found[1])]
    terminated = _TERMINATED.search(text)
    written += [("sep", terminated[1])] if terminated else []
    given, unknown = dict[str, str](), list[str]()
    for key, value in written:
        ours = _OURS.get(shape, {}).get(key.lower())
        if ours:
            plain = value.strip("'\"")
            given[ours] = f"'{_VALUES.get(ours, {}).get(plain, plain)}'"
        elif key.lower() not in ("path", "inferschema"):
            unknown.append(key)
    return given, unknown
