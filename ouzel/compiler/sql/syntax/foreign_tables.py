"""CREATE TABLE as Spark and Hive have it, `USING csv OPTIONS (path 'x')` and `STORED AS CSV LOCATION 'x'`, in our words."""

from __future__ import annotations

import re

from ouzel.compiler.sql.syntax.source import QueryText, Tokens

_FORMAT = re.compile(r"\b(?:USING|STORED\s+AS)\s+(csv|json|parquet|text|textfile)\b", re.IGNORECASE)
_PATH = re.compile(r"\b(?:LOCATION|path['\"]?\s*=?)\s*('(?:[^']|'')*')", re.IGNORECASE)
_NAME = re.compile(r"TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w`\".]+)\s*\(", re.IGNORECASE)


def of_foreign_table(source: QueryText, tokens: Tokens) -> str:
    """The CREATE TABLE that says the same of where the rows are; empty where the statement does not say enough."""
    text = source.text[tokens[0].start : tokens[-1].end + 1]
    name, kind, path = _NAME.search(text), _FORMAT.search(text), _PATH.search(text)
    if not (name and kind and path):
        return ""
    shape = "raw" if kind[1].lower().startswith("text") else kind[1].lower()
    return f"CREATE TABLE {name[1]} (...) WITH ('connector' = 'file', 'path' = {path[1]}, 'format' = '{shape}')"
