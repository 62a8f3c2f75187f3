"""Pieces of a job's text that tables and sinks share. Nothing that a query holds gets into a text but through one of them."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping

from ouzel.compiler.functions.lowering import quote as quote
from ouzel.lists import split_list

Range = Mapping[str, tuple[int, ...]]
"""Partition id -> first offset, offset to stop before; and so on where parts between are left out."""

UNITS = (
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
    ("millisecond", 1_000),
)


def comment(text: str) -> str:
    """A comment of one line, whatever the text holds: what would end the line is written as in a string."""
    return f"# {quote(text)[1:-1]}" if not text.isprintable() else f"# {text}"


def docstring(text: str, indent: int = 0) -> str:
    """The text as a docstring."""
    shown = "\n".join(_plain(line) for line in text.split("\n"))
    return f'{" " * indent}"""{shown}"""'


def _plain(line: str) -> str:
    """A line that a docstring gives back as it is, but for blanks at its end."""
    line = line.expandtabs().rstrip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in line)


def identifier(text: str) -> str:
    """The text if it can be a name in Python, else one made of it, another one for each text."""
    if is_identifier(text):
        return text
    words = re.sub(r"\W", "_", text, flags=re.ASCII)
    return (
        f"table_{words}" if text in RESERVED else f"table_{words}_{zlib.crc32(text.encode(errors='surrogatepass')):08x}"
    )


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, with a number behind it if it is taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def is_identifier(text: str) -> bool:
    """Whether a job may use the text as a name of its own."""
    named = text.isidentifier() and unicodedata.is_normalized("NFKC", text)
    return named and not {text, text.removeprefix("table_")} & RESERVED


RESERVED = frozenset(
    {
        "F",
        "T",
        "argparse",
        "args",
        "at",
        "bad_records",
        "batch",
        "BadRecords",
        "check_session",
        "DataFrame",
        "finish",
        "folder",
        "frames",
        "help",
        "in_state",
    }
    | {
        "main",
        "OFFSETS",
        "OPERATORS",
        "parse_args",
        "parser",
        "python_function",
        "python_steps",
        "python_total",
        "query",
        "read_stream",
        "read_table",
        "SETTINGS",
        "spark",
        "STEPS",
        "SparkSession",
        "Window",
        "write_table",
    }
    | {
        "Column",
        "closed",
        "fits",
        "folders_in",
        "re",
        "read_csv",
        "read_parquet",
        "read_partitions",
        "reduce",
        "unquote",
        "WIDER",
    }
    | {
        "Any",
        "Collection",
        "fold",
        "json",
        "names_in",
        "read_json",
        "Sequence",
        "spell",
        "spell_fields",
        "spell_record",
    }
    | {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
)
"""Names that no frame of a job may take."""


def is_relative(path: str) -> bool:
    """Whether a path starts at the folder of the query's file; others are absolute, or URIs such as s3a://bucket/flights."""
    path = path.removeprefix(SQLITE)
    return not path.startswith("/") and not URI.match(path)


SQLITE = "sqlite:///"
"""Before the path of a catalog that is a file of SQLite, which may be relative."""
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
"""How one begins."""


def path_text(table: str, options: Mapping[str, str]) -> str:
    """Where the table's files are, as a Python expression: what the job was told, by default the table's path."""
    given = f"args.{identifier(table)}"
    return f"at(args.folder, {given})" if is_relative(options["path"]) else given


def show_options(options: Mapping[str, str], path: str = "") -> str:
    """The options as a dictionary; that of the path is computed by `path` if that is not empty."""
    values = {name: quote(value) for name, value in options.items()}
    if path and "path" in values:
        values["path"] = path
    return "{" + ", ".join(f"{quote(name)}: {value}" for name, value in values.items()) + "}"


def is_lenient(options: Mapping[str, str]) -> bool:
    """Whether bad records of the table are left out."""
    return options.get("bad.record", "fail") != "fail"


def with_columns(items: Mapping[str, str]) -> str:
    """Columns beside the others, or in place of those of the same names: expressions by name, each of the columns that were there."""
    if len(items) == 1:
        ((name, value),) = items.items()
        return f".withColumn({quote(name)}, {value})"
    return ".withColumns({" + ", ".join(f"{quote(name)}: {value}" for name, value in items.items()) + "})"


def call(function: str, arguments: Iterable[str]) -> str:
    """A call."""
    return f"{function}({', '.join(arguments)})"


def join_columns(columns: Iterable[str]) -> list[str]:
    """Columns in DDL, as many together as fit on a line."""
    lines: list[str] = []
    for column in columns:
        if lines and len(lines[-1]) + len(column) < COLUMNS_LINE:
            lines[-1] += f", {column}"
        else:
            lines.append(column)
    return lines


COLUMNS_LINE = 90


def select(items: Iterable[str]) -> str:
    """A select."""
    return call(".select", items)


def csv_names(options: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the fields in order, where the table says them."""
    return split_list(options.get("csv.columns", ""))


def folder_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that a table's folders are named by, from the top on; empty if they are not."""
    return split_list(options.get("partition.by", ""))


def csv_dialect(options: Mapping[str, str]) -> dict[str, str]:
    """How Spark tells fields apart as our format does; what Spark assumes by itself is left out."""
    quote = options.get("csv.quote", '"')
    given = {
        "sep": options.get("csv.delimiter", ","),
        "quote": quote,
        "escape": quote,
        "nullValue": options.get("csv.null", ""),
    }
    return {name: value for name, value in given.items() if value != CSV_DEFAULTS[name]}


def csv_reader(options: Mapping[str, str], by_steps: bool) -> dict[str, str]:
    """The same with what makes Spark refuse the records that our format refuses; `by_steps` if what follows tells NULL from text."""
    strict = {"unescapedQuoteHandling": "RAISE_ERROR"} if options.get("csv.quote", '"') else {}
    null = {"nullValue": NO_TEXT} if by_steps else {}
    return {**csv_dialect(options), **null, "mode": "FAILFAST", **strict}


NO_TEXT = "\uffff"
"""A letter that is none, and so in no file: by it Spark's reader finds no NULL but in a field of no bytes."""


CSV_DEFAULTS = {"sep": ",", "quote": '"', "nullValue": "", "escape": "\\"}
"""Spark's own."""


def spark_span(length_us: int) -> str:
    """A span of time in its largest unit: "6 hours"."""
    unit, size = next(((unit, size) for unit, size in UNITS if length_us % size == 0), ("microsecond", 1))
    count = length_us // size
    return f"{count} {unit}{'' if count == 1 else 's'}"
