"""The text of a PySpark job: a readable, standalone program of DataFrame calls that answers the same question over the same input."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from symtable import symtable
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ouzel.compiler.plan import Node, Program, Scan, Sink, scans_in
from ouzel.errors import OuzelError
from ouzel.spark.lowering.batch_nodes import FrameNames, lower_batch
from ouzel.spark.lowering.batch_plan import batch_plan
from ouzel.spark.lowering.csv import CLOSED, CLOSED_QUOTES, CSV, READ_CSV
from ouzel.spark.lowering.group_sessions import group_sessions
from ouzel.spark.lowering.json import json_reader
from ouzel.spark.lowering.layout import assignment, statement
from ouzel.spark.lowering.parquet import READ_PARQUET, parquet_reader
from ouzel.spark.lowering.partitions import READ_PARTITIONS
from ouzel.spark.lowering.partitions import READER as PARTITIONS
from ouzel.spark.lowering.python_steps import steps_text
from ouzel.spark.lowering.sinks import lower_sink
from ouzel.spark.lowering.sort_less import sort_less
from ouzel.spark.lowering.statements import write_function
from ouzel.spark.lowering.tables import BAD_RECORDS, OFFSETS, is_read_by_spark, read_range, starts_at_folder
from ouzel.spark.lowering.text import Range, comment, docstring, identifier, quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JobRanges = Mapping[str, Range]
"""Table -> partition id -> [first offset, offset to stop before)."""

PROVIDED = ("BadRecords", "python_function", "python_steps", "python_total", "read_table", "write_table")
"""What a job imports of Ouzel, if it needs it."""

STANDARD = {
    "argparse": "import argparse",
    "json": "import json",
    "re": "import re",
    "Collection": "from collections.abc import Collection",
    "Sequence": "from collections.abc import Sequence",
    "reduce": "from functools import reduce",
    "Any": "from typing import Any",
    "unquote": "from urllib.parse import unquote",
}
"""What a job imports of Python's library, if it needs it."""

AT = '''def at(folder: str, path: str) -> str:
    """A path that starts at the folder, unless it is absolute or a URI."""
    return path if path.startswith("/") or "://" in path else f"{folder}/{path}"
'''


SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}
"""What makes a session of Spark mean what the topology means."""

CHECK = '''def check_session(spark: SparkSession) -> None:
    """See that a session which was there before the job means what the topology means."""
    for name, value in SETTINGS.items():
        if (found := spark.conf.get(name)) != value:
            raise ValueError(f'the session has {name} = {found}; write: spark.conf.set("{name}", "{value}")')
'''


def spark_job(
    program: Program, directory: Path, title: str = "This query", query: str = "", offsets: JobRanges | None = None
) -> str:
    """The text of job.py for bounded input; relative paths of tables start at `directory`.

    Run as a program, it shows what a SELECT gives and writes what INSERT INTO asks for. With `query`, the SQL is quoted on top. The tables
    in `offsets` are read from exactly there to there, by Ouzel's own reader.

    Raises:
        NotSupported: a source, sink or expression has no Spark form; the text names it.
    """
    dag = group_sessions(sort_less(batch_plan(program)))
    scans = {scan.table: scan for scan in scans_in(dag.nodes())}
    ours = {table: parts for table, parts in sorted((offsets or {}).items()) if table in scans}
    try:
        body = write_function(dag, partial(_lower, ours), program.text if query else "")
        text = _Job(program, directory, title, query, ours, scans, body, steps_text(dag)).text()
        compile(text, "job.py", "exec")
    except SyntaxError as error:
        raise OuzelError(f"the job of this query would be no Python ({error.msg}); please report the query") from error
    return text


@dataclass(frozen=True)
class _Job:
    """A job whose frames are written; what is around them."""

    program: Program
    directory: Path
    title: str
    query: str
    ours: JobRanges
    scans: Mapping[str, Scan]
    body: str
    steps: str

    def text(self) -> str:
        functions = {CLOSED: CLOSED_QUOTES, READ_CSV: CSV}
        csv = [text for name, text in functions.items() if name in self._names]
        written = (
            self._query(),  # first what one reads the job for
            self._at(),
            *csv,
            json_reader(self._names),
            self._parquet(),
            self._parse_args(),
            self._settings(),
            self._main(),
        )
        rest = "\n\n".join(part for part in written if part)
        constants = ""
        if OFFSETS in self._names:
            note = comment("What is read of each partition: from the first offset to just before the second.")
            constants = "\n".join([note, *assignment(OFFSETS, [_ranges(self.ours)]), "", ""])
        run = 'if __name__ == "__main__":\n    main()\n'
        return f"{self._header()}\n{self._imports(constants + rest)}\n{constants}\n{rest}\n\n{self.steps}{run}"

    def _header(self) -> str:
        meaning = "It means what the topology means: ANSI mode, and UTC as the session's time zone."
        asked = f"\n\n{indent(self.query.strip(), '    ')}" if self.query else ""
        return docstring(f"{self.title} as a PySpark job, in batch.\n\n{meaning}{asked}\n") + "\n"

    def _imports(self, code: str) -> str:
        names = _names_in(code)
        used = ", ".join(name for name in PROVIDED if name in names)
        functions = "from pyspark.sql import functions as F\n" if "F" in names else ""
        functions += "from pyspark.sql import types as T\n" if "T" in names else ""
        standard = "".join(f"{line}\n" for name, line in STANDARD.items() if name in names)
        known = (
            "Column" if "Column" in names else "",
            "DataFrame",
            "SparkSession",
            "Window" if "Window" in names else "",
        )
        lines = [standard, f"from pyspark.sql import {', '.join(filter(None, known))}\n{functions}"]
        lines += [f"from ouzel.spark import {used}  # needs the wheel of Ouzel\n" if used else ""]
        return "\n".join(line for line in lines if line)

    def _at(self) -> str:
        return AT if "at" in self._names | _names_in("\n".join(self._endings())) else ""

    def _parquet(self) -> str:
        of_folders = READ_PARTITIONS in self._names
        if READ_PARQUET not in self._names and not of_folders:
            return ""
        scans = (scan for scan in self.scans.values() if dict(scan.options).get("format") == "parquet")
        reader = parquet_reader((field.type for scan in scans for field in scan.columns), of_folders)
        return f"{reader}\n\n{PARTITIONS}" if of_folders else reader

    @cached_property
    def _names(self) -> frozenset[str]:
        """What the frames need by name; texts and comments may say anything."""
        return _names_in(f"def query():\n{self.body}")

    @cached_property
    def _arguments(self) -> dict[str, tuple[str, str]]:
        """What the job can be told: argument -> its default, and what it means."""
        given = dict[str, tuple[str, str]]()
        files: list[Scan | Sink] = [*self.scans.values(), *self.program.sinks]
        if any(starts_at_folder(dict(node.options)) for node in files):
            given["folder"] = (str(self.directory), "where relative paths start")
        for node in files:
            path = dict(node.options).get("path")
            if path is not None:
                does = "written to" if isinstance(node, Sink) else "read from"
                given[identifier(node.table)] = (self._as_read(node, path), f"where table {node.table} is {does}")
        return given

    def _as_read(self, node: Scan | Sink, path: str) -> str:
        """The path for whoever reads there: to Spark's own readers braces are a choice, unless they are escaped."""
        by_spark = isinstance(node, Scan) and node.table not in self.ours and is_read_by_spark(node)
        return re.sub(r"[{}]", r"\\\g<0>", path) if by_spark else path

    @cached_property
    def _parameters(self) -> dict[str, str]:
        """What `query` is given: name -> type."""
        given = {"spark": "SparkSession", "args": "argparse.Namespace", BAD_RECORDS: "BadRecords"}
        return {name: kind for name, kind in given.items() if name == "spark" or name in self._names}

    def _query(self) -> str:
        one = len(self.program.sinks) == 1
        kind = "DataFrame" if one else "dict[str, DataFrame]"
        given = ", ".join(f"{name}: {kind}" for name, kind in self._parameters.items())
        what = "What the query answers." if one else "What is written, by table."
        return "\n".join([f"def query({given}) -> {kind}:", docstring(what, 4), "    check_session(spark)", self.body])

    def _parse_args(self) -> str:
        if not self._arguments:
            return ""
        described = docstring("Where the tables are.", 4)
        lines = ["def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:", described]
        lines += assignment("parser", [f"argparse.ArgumentParser(description={quote(f'{self.title} in batch')})"], 4)
        for name, (default, meaning) in self._arguments.items():
            told = f'"--{name}", metavar="PATH", default={quote(default)}, help={quote(meaning.replace("%", "%%"))}'
            lines += statement(f"parser.add_argument({told})", 4)
        return "\n".join([*lines, "    return parser.parse_args(arguments)", ""])

    def _settings(self) -> str:
        given = ", ".join(f"{quote(name)}: {quote(value)}" for name, value in SETTINGS.items())
        return "\n".join([*assignment("SETTINGS", [f"{{{given}}}"]), "\n", CHECK])

    def _main(self) -> str:
        told = docstring("Run the job in the session that is there, or else in one of its own, which it stops.", 4)
        lines = ["def main() -> None:", told]
        lines += ["    args = parse_args()"] if self._arguments else []
        lines += ["    there = SparkSession.getActiveSession()"]
        lines += assignment("spark", [_session(self.title)], 4)
        lines += ["    try:"]
        if BAD_RECORDS in self._parameters:
            lines += [" " * 8 + comment("Records that cannot be read are left out, and noted here.")]
            lines += [f"        {BAD_RECORDS} = BadRecords(spark)"]
        lines += assignment(ANSWER, [f"query({', '.join(self._parameters)})"], 8)
        for ending in self._endings():
            lines += statement(ending, 8)
        lines += [f"        {BAD_RECORDS}.settle()"] if BAD_RECORDS in self._parameters else []
        return "\n".join([*lines, "    finally:", "        if there is None:", "            spark.stop()", ""])

    def _endings(self) -> Iterator[str]:
        return iter(job_endings(self.program).values())


def _names_in(code: str) -> frozenset[str]:
    """The variables that the code reads, in whatever scope; attributes and names of arguments are none."""
    names, scopes = set[str](), [symtable(code, "job.py", "exec")]
    for scope in scopes:
        names.update(symbol.get_name() for symbol in scope.get_symbols() if symbol.is_referenced())
        scopes += scope.get_children()
    return frozenset(names)


ANSWER = "answer"
"""What `main` calls what `query` has given."""


def _session(title: str) -> str:
    return f"SparkSession.builder.appName({quote(title)}).config(map=SETTINGS).getOrCreate()"


def job_endings(program: Program) -> dict[str, str]:
    """What the program does in the end, by sink: the statement that shows or writes its rows."""
    one = len(program.sinks) == 1
    return {
        sink.table: lower_sink(ANSWER if one else f"{ANSWER}[{quote(identifier(sink.table))}]", sink)
        for sink in program.sinks
    }


@dataclass(frozen=True)
class Loaded:
    """A job's text in a session that is there already; nothing is shown or written."""

    names: dict[str, Any]

    @property
    def bad_records(self) -> Any:
        """What notes the records that are left out, or None."""
        return self.names.get(BAD_RECORDS)

    def frame(self, table: str) -> DataFrame:
        """The rows of one of its sinks."""
        answer = self.names[ANSWER]
        frame: DataFrame = answer[identifier(table)] if isinstance(answer, dict) else answer
        return frame

    def end(self, ending: str) -> None:
        """Run one of `job_endings`."""
        exec(compile(ending, "job.py", "exec"), self.names)


def load_job(text: str, spark: SparkSession) -> Loaded:
    """Make the frames of a job in a session that is there already, with the arguments' defaults."""
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    names: dict[str, Any] = {"__name__": "job"}
    exec(compile(text, "job.py", "exec"), names)
    names["spark"] = spark
    if "parse_args" in names:
        names["args"] = names["parse_args"]([])
    if "BadRecords" in names:
        names[BAD_RECORDS] = names["BadRecords"](spark)
    names[ANSWER] = names["query"](*(names[name] for name in inspect.signature(names["query"]).parameters))
    return Loaded(names)


def run_job(text: str, spark: SparkSession, table: str = "result") -> DataFrame:
    """What a job's text computes for one of its sinks, in a session that is there already; nothing is shown or written."""
    return load_job(text, spark).frame(table)


def _lower(ours: JobRanges, node: Node, names: FrameNames) -> list[str]:
    if isinstance(node, Scan) and node.table in ours:
        return read_range(node, ours[node.table])
    return lower_batch(node, names)


def _ranges(offsets: JobRanges) -> str:
    tables = (
        f"{quote(table)}: {{" + ", ".join(f"{quote(part)}: {tuple(span)}" for part, span in parts.items()) + "}"
        for table, parts in offsets.items()
    )
    return "{" + ", ".join(tables) + "}"
