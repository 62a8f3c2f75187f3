"""The text of a PySpark job: a readable, standalone program of DataFrame calls that answers the same question over the same input."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.compiler.plan import Node, Program, Sink, Watermark
from ouzel.planner.rules.dag import Dag
from ouzel.planner.spark.lowering import Frames, lower, variable_of
from ouzel.planner.spark.tables import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RESERVED = frozenset({"F", "spark", "folder", "SparkSession", *keyword.kwlist})
"""Names that no variable of a job may take."""

HEADER = '''"""{title} as a PySpark job, in batch. It means what the topology means: ANSI mode, and UTC as the session's time zone."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = (
    SparkSession.builder.appName({name})
    .config("spark.sql.ansi.enabled", "true")
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)
folder = {folder}
'''


def spark_job(program: Program, directory: Path, title: str = "This query") -> str:
    """The text of job.py for bounded input; relative paths of tables start at `directory`.

    Each node of the plan is one statement; run as a program, it shows what a SELECT gives and writes what INSERT INTO asks for.

    Raises:
        NotSupported: a source, sink or expression has no Spark form; the text names it.
    """
    dag = Dag(program.sinks)
    names = _variables(dag)
    frames = Frames(names)
    body = [f"{names[id(node)]} = {lower(node, frames)}" for node in dag.nodes() if not isinstance(node, Watermark)]
    ends = [f"    {line}" for sink in program.sinks for line in frames.endings(sink)]
    main = "\n".join(['if __name__ == "__main__":', *ends])
    return "\n".join(
        [HEADER.format(title=title, name=quoted(title), folder=quoted(str(directory))), *body, "", main, ""]
    )


def run_job(text: str, spark: SparkSession, table: str = "result") -> DataFrame:
    """What a job's text computes for one of its sinks, in a session that is there already; nothing is shown or written."""
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    names: dict[str, Any] = {"__name__": "job"}
    exec(compile(text, "job.py", "exec"), names)
    frame: DataFrame = names[_identifier(table)]
    return frame


def _variables(dag: Dag) -> dict[int, str]:
    """A name for each node, by `id()`; a watermark has its input's, for in batch it does nothing. Sinks' names come first."""
    names: dict[int, str] = {}
    nodes = sorted(dag.nodes(), key=lambda node: not isinstance(node, Sink))
    for node in nodes:
        if not isinstance(node, Watermark):
            names[id(node)] = _free(_identifier(variable_of(node)), set(names.values()))
    for node in dag.nodes():
        if isinstance(node, Watermark):
            names[id(node)] = names[id(_unmarked(node))]
    return names


def _unmarked(node: Node) -> Node:
    return _unmarked(node.input) if isinstance(node, Watermark) else node


def _identifier(text: str) -> str:
    name = re.sub(r"\W", "_", text)
    return name if name.isidentifier() and name not in RESERVED else f"table_{name}"


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
