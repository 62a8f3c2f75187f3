"""Write the pages that are made from the code: `make docs`. A test compares them with what this gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from typer.testing import CliRunner

from doc_sources import tuning
from doc_sources.glossary import GLOSSARY, linked
from ouzel.cli.checkpoints import checkpoint
from ouzel.cli.main import app
from ouzel.cli.metrics import metrics
from ouzel.cli.submitted import COMMANDS
from ouzel.compiler import plan
from ouzel.compiler.functions import all_functions
from ouzel.compiler.functions.aggregates import AGGREGATES
from ouzel.compiler.functions.elsewhere import DIFFERENCES
from ouzel.compiler.functions.spark import to_spark
from ouzel.compiler.plan import FinalAggregate, PartialAggregate
from ouzel.compiler.plan.tables import node_classes
from ouzel.compiler.sql import compile_sql
from ouzel.connectors import CONNECTORS
from ouzel.connectors.base import Connector, Option
from ouzel.connectors.formats import FORMATS
from ouzel.connectors.formats.widening import INTEGER_DIGITS, WIDER
from ouzel.connectors.options import COMMON, own_options
from ouzel.errors import NotSupported
from ouzel.planner.settings import Settings, setting_docs, shown_setting
from ouzel.runtime.operators.build import OPERATORS
from ouzel.session import connector_traits, load_text
from ouzel.spark.lowering.batch_nodes import BATCH
from ouzel.spark.lowering.state_plan import Way, ways_of
from ouzel.spark.lowering.streaming import streaming_queries

SOURCES = Path(__file__).parent
DOCS = SOURCES.parent / "docs"

NOTE = "<!-- Made from the code by `make docs`: change the code, not this page. -->"


def cli() -> str:
    """docs/cli.md: what `--help` prints, and what formats and exit codes mean."""
    below = [f"checkpoint {command.name}" for command in checkpoint.registered_commands]
    of_metrics = [f"metrics {command.name}" for command in metrics.registered_commands]
    commands = [
        "",
        "run",
        "batch",
        "explain",
        "reconcile",
        *COMMANDS,
        "top",
        "ui",
        "checkpoint",
        *below,
        "metrics",
        *of_metrics,
    ]
    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})
    helps = [(name, runner.invoke(app, [*name.split(), "--help"], prog_name="ouzel").stdout) for name in commands]
    blocks = [f"## {f'ouzel {name}'.strip()}\n\n```text\n{_trimmed(text)}\n```" for name, text in helps]
    return "\n\n".join(["# The command line", NOTE, *blocks, (SOURCES / "cli_formats.txt").read_text().strip()])


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def settings() -> str:
    """docs/settings.md: every setting with its type, default and meaning."""
    rows = []
    for key, field, meaning in setting_docs():
        shown = shown_setting(Settings(), field)
        rows.append((f"`{key}`", f"`{shown}`" if shown else "", meaning))
    intro = (
        "Three ways to say the same, the later ones winning: `SET 'batch.rows' = '1000';` in the query, `--set batch.rows=1000` on the "
        "command line, `ouzel.query(text, batch_rows=1000)` in Python."
    )
    return "\n\n".join(["# Settings", NOTE, intro, _table(("key", "default", "meaning"), rows)])


def connectors() -> str:
    """docs/connectors.md: every connector and format with its options."""
    parts = ["# Connectors and formats", NOTE, (SOURCES / "connectors_intro.txt").read_text().strip(), "## Connectors"]
    parts += [_connector(connector) for connector in CONNECTORS.values()]
    parts += ["## Options of every table that is read", _options(COMMON), "## Formats"]
    parts += [f"### {form.name}\n\n{form.doc}\n\n{_options(form.options)}".strip() for form in FORMATS.values()]
    parts += ["## Types of a file and of a table", (SOURCES / "connectors_types.txt").read_text().strip(), _types()]
    parts += ["## Types of records", (SOURCES / "connectors_record_types.txt").read_text().strip()]
    parts += [
        "## Under fire",
        *((SOURCES / f"connectors_fire{part}.txt").read_text().strip() for part in ("", "_counts")),
    ]
    return "\n\n".join(parts)


def batch() -> str:
    """docs/batch.md: the PySpark job, which engine runs which construct, and what Structured Streaming makes of queries."""
    streamed = list(_streamed())
    planned = (PartialAggregate, FinalAggregate)  # no query has them: the planner makes them
    found = (kind for kind in node_classes() if kind.__module__.startswith(plan.__name__) and kind not in planned)
    nodes = sorted(found, key=lambda kind: kind.__name__)
    words = {True: "yes", False: "no"}
    rows = [
        (f"`{kind.__name__}`", _sentence(kind), stream, stream, words[BATCH.can_take(kind)], _ways(kind))
        for kind in nodes
        for stream in (words[OPERATORS.can_take(kind)],)
    ]
    table = _table(("construct", "what it is", "heron", "memory", "batch", "spark"), rows)
    whys = [
        (f"`{kind.__name__}`", WAY_WORDS[way], why)
        for kind in nodes
        for way, reasons in ways_of(kind).items()
        for why in reasons
    ]
    reasons = _table(("construct", "spark", "why, or when, Spark's own is not used"), whys)
    modes = _table(("query", "Structured Streaming"), streamed)
    intro, ways, streaming, differences, figures = (
        (SOURCES / f"batch_{name}.txt").read_text().strip()
        for name in ("intro", "ways", "streaming", "differences", "figures")
    )
    return "\n\n".join(["# The batch job", NOTE, intro, table, ways, reasons, streaming, modes, differences, figures])


WAY_WORDS = {Way.OWN: "own", Way.IN_STATE: "state", Way.IN_TASKS: "tasks"}
"""What the page calls the ways."""


def _ways(kind: type[plan.Node]) -> str:
    return ", ".join(WAY_WORDS[way] for way in ways_of(kind)) or "no"


def _streamed() -> Iterator[tuple[str, str]]:
    """Each query of doc_sources/batch_streamed.sql, by name: how Structured Streaming runs it, or why not."""
    tables, *parts = re.split(r"^-- query: (.+)\n", (SOURCES / "batch_streamed.sql").read_text(), flags=re.MULTILINE)
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        program = load_text(tables + text, DOCS, "streamed").program
        try:
            (query,) = streaming_queries(program, DOCS, "streamed")
        except NotSupported as refused:
            yield name, f"refused: {refused.problem}"
            continue
        keys = f" by {', '.join(query.keys)}" if query.keys else ""
        yield name, f"{query.mode.value}{keys}{', the rest with each micro-batch' * bool(query.after)}"


def _sentence(kind: type) -> str:
    return re.split(r"[.;:] |\.?\n", (kind.__doc__ or "").strip())[0].rstrip(".")


def _connector(connector: Connector) -> str:
    abilities = [
        word
        for word, has in (("read", connector.reads), ("written", connector.writes and connector.writes.sink))
        if has
    ]
    facts = [f"Can be {' and '.join(abilities)}."] if abilities else []
    if connector.reads:
        facts.append(f"After a crash the source gives again {connector.reads.replay.value}.")
    if connector.writes and connector.writes.sink:
        facts.append(
            f"The sink takes {', '.join(connector.writes.modes)}; it is written by {connector.writes.writers.value}."
        )
        facts.append(f"When a batch comes again after a crash {connector.writes.delivery.value}.")
    if connector.writes and connector.writes.publisher:
        facts.append("It can be written [effectively once](delivery.md#effectively-once).")
    if connector.extra:
        facts.append(f'Needs `pip install "ouzel[{connector.extra}]"`.')
    keys = ", ".join(f"`{key}`" for key in (connector.reads.metadata if connector.reads else ()))
    metadata = f"\n\nMETADATA: {keys}." if keys else ""
    return f"### {connector.name}\n\n{connector.doc}\n\n{' '.join(facts)}{metadata}\n\n{_options(own_options(connector))}".strip()


def _types() -> str:
    """What a Parquet column may be for each declared type."""
    kinds = (
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "BOOLEAN",
        "VARCHAR",
        "BYTES",
        "DATE",
        "TIMESTAMP",
        "TIMESTAMP_LTZ",
    )
    rows = [(f"`{kind}`", ", ".join(f"`{held}`" for held in (kind, *WIDER.get(kind, ())))) for kind in kinds]
    rows += [
        ("`DECIMAL(p, s)`", "`DECIMAL` with no more digits before the point and none more behind it; integers, where `p - s` is "
         f"{INTEGER_DIGITS['INT']} or more ({INTEGER_DIGITS['BIGINT']} for `BIGINT`)"),
        ("`ARRAY`, `MAP`", "the same, of elements, keys and values that fit"),
        ("`ROW`", "a struct that has all fields of the ROW, in any order, each of a type that fits; other fields are not read"),
    ]  # fmt: skip
    return _table(("declared", "the file may hold"), rows)


def _options(options: Iterable[Option]) -> str:
    rows = []
    for option in options:
        default = "required" if option.required else f"`{option.default}`" if option.default else ""
        choices = f" One of {', '.join(f'`{choice}`' for choice in option.choices)}." if option.choices else ""
        names = " or ".join(f"`{alias.name}`" for alias in option.aliases)
        also = f" Also {names}, as in Flink{_taken(option)}." if names else ""
        rows.append((f"`{option.name}`", default, option.doc + choices + also))
    return _table(("option", "default", "meaning"), rows) if rows else ""


def _taken(option: Option) -> str:
    """The values of Flink's that are taken, and ours."""
    values = {theirs: ours for alias in option.aliases for theirs, ours in alias.values.items()}
    return f" ({', '.join(f'`{theirs}` is `{ours}`' for theirs, ours in values.items())})" if values else ""


def functions() -> str:
    """docs/functions.md: every function and aggregate with its call and its meaning."""
    aggregates = [(f"`{entry.usage}`", entry.doc, ", ".join(entry.aliases).upper()) for entry in AGGREGATES]
    scalars = [(f"`{entry.usage}`", entry.doc, ", ".join(entry.aliases).upper()) for entry in all_functions()]
    head = ("call", "meaning", "also called")
    intro = (
        "What each computes is what Spark 4 computes in ANSI mode with the session time zone UTC; a test compares every entry with Spark. "
        "A row for which Spark would fail (overflow, a bad cast, a division by zero) is a bad record: see `error.policy` in "
        "[settings](settings.md)."
    )
    return "\n\n".join(
        [
            "# Functions",
            NOTE,
            intro,
            "## Aggregates",
            _table(head, aggregates),
            "## Scalar functions and operators",
            _table(head, scalars),
            "## Where Flink, Spark and Postgres differ",
            (SOURCES / "functions_elsewhere.txt").read_text().strip(),
            _table(("call", "here", "Spark", "Postgres", "in the PySpark job"), _elsewhere()),
        ]
    )


def _elsewhere() -> Iterator[tuple[str, ...]]:
    """Calls that engines answer in different ways, and the Spark expression that gives our answer."""
    empty = "CREATE TABLE t (i INT) WITH ('connector' = 'file', 'path' = 't', 'format' = 'json');"
    for one in DIFFERENCES:
        (sink,) = compile_sql(f"{empty}\nSELECT {one.call} AS x FROM t;", connector_traits()).sinks
        yield f"`{one.call}`", one.here, one.spark, one.postgres, f"`{to_spark(sink.input.items[0][1])}`"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli,
    "settings.md": settings,
    "batch.md": batch,
    "connectors.md": connectors,
    "functions.md": functions,
    "tuning.svg": tuning.picture,
}


def made(name: str) -> str:
    """A page that is made from the code, as it is written."""
    text = PAGES[name]() + "\n"
    return linked(text) if name.endswith(".md") else text


def main() -> None:
    """Write all pages that are made from the code, and the links into the glossary on all pages."""
    for name in PAGES:
        (DOCS / name).write_text(made(name))
    for page in DOCS.glob("*.md"):
        if page != GLOSSARY and page.name not in PAGES:
            page.write_text(linked(page.read_text()))


if __name__ == "__main__":
    main()
