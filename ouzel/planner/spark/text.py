"""Pieces of a job's text that tables and sinks share."""

from __future__ import annotations

from collections.abc import Mapping

Range = Mapping[str, tuple[int, int]]
"""Partition id -> first offset, offset to stop before."""


def quoted(text: str) -> str:
    """The text as a Python string in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def path_text(options: Mapping[str, str]) -> str:
    """The table's path as a Python expression."""
    path = options["path"]
    return quoted(path) if path.startswith("/") or "://" in path else f'f"{{folder}}/{path}"'


def shown_options(options: Mapping[str, str]) -> str:
    """The options as a dictionary, one a line, in an argument of a call."""
    return "{\n" + "".join(f"        {quoted(name)}: {quoted(value)},\n" for name, value in options.items()) + "    }"


def is_lenient(options: Mapping[str, str]) -> bool:
    """Whether bad records of the table are left out."""
    return options.get("bad.record", "fail") != "fail"


def with_columns(items: list[str]) -> str:
    """Columns in place of those of the same names, one item a line."""
    return ".withColumns({\n" + "".join(f"    {item},\n" for item in items) + "})"


def select(items: list[str]) -> str:
    """A select, one item a line."""
    return ".select(\n" + "".join(f"    {item},\n" for item in items) + ")"


def csv_names(options: Mapping[str, str]) -> list[str]:
    """The names of the fields in order, where the table says them."""
    return [name.strip() for name in options.get("csv.columns", "").split(",") if name.strip()]


def csv_dialect(options: Mapping[str, str]) -> dict[str, str]:
    """How Spark tells fields apart as our format does, and refuses records that it cannot; what Spark assumes by itself is left out."""
    quote = options.get("csv.quote", '"')
    given = {
        "sep": options.get("csv.delimiter", ","),
        "quote": quote,
        "escape": quote,
        "nullValue": options.get("csv.null", ""),
        "mode": "FAILFAST",
    }
    return {name: value for name, value in given.items() if value != CSV_DEFAULTS[name]}


CSV_DEFAULTS = {"sep": ",", "quote": '"', "nullValue": "", "escape": "\\", "mode": "PERMISSIVE"}
"""Spark's own."""
