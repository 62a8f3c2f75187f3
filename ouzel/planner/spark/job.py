"""The text of a PySpark job: a readable, standalone program of DataFrame calls that answers the same question over the same input."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.compiler.plan import Aggregate, AssignWindow, Filter, Node, Program, Scan, Sink, Union, Unnest, Watermark
from ouzel.planner.rules.dag import Dag
from ouzel.planner.spark.batch_plan import batch_plan
from ouzel.planner.spark.lowering import Names, computes_below, lower, without_unread_time
from ouzel.planner.spark.tables import OFFSETS, READ_TABLE, quoted, read_range, write_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RESERVED = frozenset(
    {"F", "spark", "folder", "SparkSession", "read_table", OFFSETS, *keyword.kwlist, *keyword.softkwlist}
)
"""Names that no variable of a job may take."""

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

LINE = 110


@dataclass
class Statement:
    """One statement of a job: the nodes, in order, whose lines it chains, and its variable."""

    nodes: list[Node]
    variable: str = ""
    lines: list[str] = field(default_factory=list)


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
    ends = [f"    {line}" for line in job_endings(program).values()]
    return "\n".join([frames, 'if __name__ == "__main__":', *ends, ""])


def job_frames(program: Program, directory: Path, title: str, query: str = "", offsets: Ranges | None = None) -> str:
    """The job without its end: a frame for each sink, and nothing shown or written."""
    dag = batch_plan(program)
    scans = [node for node in dag.nodes() if isinstance(node, Scan)]
    ours = (
        {table: offsets[table] for table in sorted({scan.table for scan in scans} & set(offsets or {}))}
        if offsets
        else {}
    )
    body = "\n".join(_written(statement, dag) for statement in _statements(dag, frozenset(ours)))
    imports = IMPORTS + (f"\n{READ_TABLE}\n" if "read_table(" in body else "")
    quoted_query = "\n\n" + query.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + "\n" if query else ""
    parts = [HEADER.format(title=title, name=quoted(title), imports=imports, query=quoted_query)]
    if any("folder" in part for part in (body, *job_endings(program).values())):
        parts.append(f"# Relative paths of tables start here.\nfolder = {quoted(str(directory))}\n")
    if ours:
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


def _ranges(offsets: Ranges) -> str:
    shown = {table: {part: list(span) for part, span in parts.items()} for table, parts in offsets.items()}
    return re.sub(r"\[\s+(-?\d+),\s+(-?\d+)\s+\]", r"(\1, \2)", json.dumps(shown, indent=4, ensure_ascii=False))


def _statements(dag: Dag, ours: frozenset[str]) -> list[Statement]:
    """Which nodes each statement chains: a table, a union and what several readers share are frames of their own."""
    made: dict[int, Statement] = {}
    statements: list[Statement] = []
    shared = dag.shared()
    apart = {id(branch) for node in dag.nodes() if isinstance(node, Union) for branch in node.branches}
    for node in dag.nodes():
        upstream = node.inputs[0] if len(node.inputs) == 1 else None
        before = made[id(upstream)] if upstream is not None else None
        if isinstance(node, Watermark) and before is not None:
            made[id(node)] = before
        elif before is None or not _marked(upstream).isdisjoint(shared | apart) or _begins(node, before):
            made[id(node)] = Statement([node])
            statements.append(made[id(node)])
        else:
            before.nodes.append(node)
            made[id(node)] = before
    _name(statements)
    names = {id(node): made[id(node)].variable for node in dag.nodes() if made[id(node)].nodes[-1] is _unmarked(node)}
    for statement in statements:
        statement.lines = _lines(statement, names, ours)
    return statements


def _unmarked(node: Node) -> Node:
    return _unmarked(node.input) if isinstance(node, Watermark) else node


def _marked(node: Node | None) -> set[int]:
    """The ids of the node and, of a watermark, of what it marks: in batch they are one."""
    found = set[int]()
    while node is not None:
        found.add(id(node))
        node = node.input if isinstance(node, Watermark) else None
    return found


def _begins(node: Node, before: Statement) -> bool:
    if isinstance(before.nodes[-1], Scan):
        return True
    return isinstance(node, Aggregate) and any(isinstance(other, Aggregate) for other in before.nodes)


def _name(statements: Iterable[Statement]) -> None:
    """A variable for each statement: sinks have theirs first, then tables, then the others."""
    ordered = sorted(
        statements, key=lambda each: (not isinstance(each.nodes[-1], Sink), not isinstance(each.nodes[0], Scan))
    )
    taken: set[str] = set()
    for statement in ordered:
        statement.variable = _free(variable(_wanted(statement)), taken)
        taken.add(statement.variable)


def _wanted(statement: Statement) -> str:
    """The table's name, or what is read and what becomes of it: `flights_by_carrier`."""
    last = statement.nodes[-1]
    if isinstance(last, Sink | Scan):
        return last.table
    if isinstance(last, Union) or isinstance(statement.nodes[0], Union):
        return "united"
    subject = next(_subjects(statement.nodes[0]))
    for kind, word in OPERATORS.items():
        found = next((node for node in reversed(statement.nodes) if isinstance(node, kind)), None)
        if isinstance(found, Aggregate):
            keys = [key for key in found.keys if key not in (found.window or ())]
            return f"{subject}_by_{'_and_'.join(keys)}" if keys else f"{subject}_in_all"
        if found:
            return f"{subject}_{word}"
    return f"{subject}_projected"


def _subjects(node: Node) -> Iterator[str]:
    if isinstance(node, Scan):
        yield node.table
    for upstream in node.inputs:
        yield from _subjects(upstream)


def _lines(statement: Statement, names: Names, ours: frozenset[str]) -> list[str]:
    first = statement.nodes[0]
    if isinstance(first, Scan) and first.table in ours:
        return [read_range(first)]
    lines = [] if isinstance(first, Scan | Union) else [names[id(first.inputs[0])]]
    for place, node in enumerate(statement.nodes, 1):
        after = statement.nodes[place] if place < len(statement.nodes) else None
        if isinstance(node, AssignWindow):
            node = without_unread_time(node, statement.nodes[place:])
        if after is None or not computes_below(after, names):
            lines += lower(node, names)
    return lines


def _written(statement: Statement, dag: Dag) -> str:
    """The statement on one line if it is short, else one call a line."""
    lines, comment = statement.lines, ""
    marks = [node for node in dag.nodes() if isinstance(node, Watermark) and node.input is statement.nodes[-1]]
    if marks and isinstance(statement.nodes[0], Scan):
        comment = f"# Event time is {marks[0].column}. The stream waits for late rows; here none is late.\n"
    joined = "".join(lines)
    if not any(line.startswith("#") for line in lines) and (
        len(lines) == 1 or (len(joined) < LINE and "\n" not in joined)
    ):
        return f"{comment}{statement.variable} = {joined}\n"
    indented = "".join(f"    {line}\n" for text in lines for line in text.split("\n"))
    return f"{comment}{statement.variable} = (\n{indented})\n"


def variable(text: str) -> str:
    """The job's variable for a sink or table of this name."""
    name = re.sub(r"\W", "_", text)
    return name if name.isidentifier() and name not in RESERVED else f"table_{name}"


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


OPERATORS: dict[type[Node], str] = {
    Aggregate: "grouped", AssignWindow: "windowed", Unnest: "unnested", Filter: "filtered",
}  # fmt: skip
"""Which of its operators a statement is called after, the most telling first."""
