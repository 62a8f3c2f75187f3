"""The text of a PySpark job: a readable, standalone program of DataFrame calls that answers the same question over the same input."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ouzel.compiler.plan import Node, Program, Scan
from ouzel.planner.spark.batch_plan import batch_plan
from ouzel.planner.spark.lowering import Names, lower
from ouzel.planner.spark.sinks import write_table
from ouzel.planner.spark.statements import OURS, variable, written
from ouzel.planner.spark.tables import BAD_RECORDS, OFFSETS, read_range
from ouzel.planner.spark.text import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HEADER = '''"""{title} as a PySpark job, in batch.

It means what the topology means: ANSI mode, and UTC as the session's time zone.{query}
"""

{imports}
spark = (
    SparkSession.builder.appName({name})
    .config("spark.sql.ansi.enabled", "true")
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)
'''

IMPORTS = "from pyspark.sql import SparkSession\nfrom pyspark.sql import functions as F\n"

Ranges = Mapping[str, Mapping[str, tuple[int, int]]]
"""Table -> partition id -> [first offset, offset to stop before)."""


def spark_job(
    program: Program, directory: Path, title: str = "This query", query: str = "", offsets: Ranges | None = None
) -> str:
    """The text of job.py for bounded input; relative paths of tables start at `directory`.

    Run as a program, it shows what a SELECT gives and writes what INSERT INTO asks for. With `query`, the SQL is quoted on top. The tables
    in `offsets` are read from exactly there to there, by Ouzel's own reader.

    Raises:
        NotSupported: a source, sink or expression has no Spark form; the text names it.
    """
    frames = job_frames(program, directory, title, query, offsets)
    ends = [*job_endings(program).values(), *([f"{BAD_RECORDS}.settle()"] if f"\n{BAD_RECORDS} = " in frames else [])]
    return "\n".join([frames, 'if __name__ == "__main__":', *(indent(end, "    ") for end in ends), ""])


def job_frames(program: Program, directory: Path, title: str, query: str = "", offsets: Ranges | None = None) -> str:
    """The job without its end: a frame for each sink, and nothing shown or written."""
    dag = batch_plan(program)
    scans = [node for node in dag.nodes() if isinstance(node, Scan)]
    ours = (
        {table: offsets[table] for table in sorted({scan.table for scan in scans} & set(offsets or {}))}
        if offsets
        else {}
    )
    body = written(dag, partial(_lower, ours))
    if f"={BAD_RECORDS}," in body:
        body = (
            f"# Records that cannot be read are left out, and noted here.\n{BAD_RECORDS} = BadRecords(spark)\n\n{body}"
        )
    code = "\n".join([body, *job_endings(program).values()])
    used = ", ".join(name for name in OURS if re.search(rf"\b{name}\(", code))
    imports = IMPORTS + (f"\nfrom ouzel.batch import {used}  # needs the wheel of Ouzel\n" if used else "")
    quoted_query = "\n\n" + query.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + "\n" if query else ""
    parts = [HEADER.format(title=title, name=quoted(title), imports=imports, query=quoted_query)]
    if "folder" in code:
        parts.append(f"# Relative paths of tables start here.\nfolder = {quoted(str(directory))}\n")
    if f"{OFFSETS}[" in code:
        parts.append(
            f"# What is read of each partition: from the first offset to just before the second.\n{OFFSETS} = {_ranges(ours)}\n"
        )
    return "\n".join([*parts, body])


def job_endings(program: Program) -> dict[str, str]:
    """What the program does in the end, by sink: the statement that shows or writes its rows."""
    return {sink.table: write_table(variable(sink.table), sink) for sink in program.sinks}


def run_job(text: str, spark: SparkSession, table: str = "result") -> DataFrame:
    """What a job's text computes for one of its sinks, in a session that is there already; nothing is shown or written."""
    frame: DataFrame = job_names(text, spark)[variable(table)]
    return frame


def job_names(text: str, spark: SparkSession) -> dict[str, Any]:
    """The variables of a job's text once it has run in a session that is there already; nothing is shown or written."""
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    names: dict[str, Any] = {"__name__": "job"}
    exec(compile(text, "job.py", "exec"), names)
    return names


def _lower(ours: Ranges, node: Node, names: Names) -> list[str]:
    if isinstance(node, Scan) and node.table in ours:
        return read_range(node, ours[node.table])
    return lower(node, names)


def _ranges(offsets: Ranges) -> str:
    shown = {table: {part: list(span) for part, span in parts.items()} for table, parts in offsets.items()}
    return re.sub(r"\[\s+(-?\d+),\s+(-?\d+)\s+\]", r"(\1, \2)", json.dumps(shown, indent=4, ensure_ascii=False))
