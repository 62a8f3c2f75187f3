"""Nexmark queries on this machine, those of sql_examples/nexmark over events that never end. One JSON line for each.

    python -m bench.nexmark                       every query
    python -m bench.nexmark q1 q12 q17            some
    python -m bench.nexmark q15 --parallelism 2
    python -m bench.nexmark q17 --checkpoint 0 --seconds 40   no epochs
    python -m bench.nexmark q1 --held 500000      events are made once, so that making them is not what is measured

`rows` are the rows of the tables that the query reads, acked; the query writes into a blackhole, at least once. Tables are read side by
side, each as fast as it can be: of several, as many rows count as events of Nexmark's mix (1 person, 3 auctions, 46 bids) are wholly
handled, so that a table which runs ahead of another gains nothing.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.figures import acked_rows, measure, print_line
from ouzel.connectors.nexmark import SHARES
from ouzel.runtime.run import Handle, Status
from ouzel.session import load_text, start

QUERIES = Path(__file__).parents[1] / "sql_examples" / "nexmark"
BOUND = ", 'events' = '5000', 'interval.us' = '10000'"
"""What makes the examples' tables small."""


def query_names() -> list[str]:
    """All queries, in their numbers' order."""
    names = [file.stem for file in QUERIES.glob("q*.sql")]
    return sorted(names, key=lambda name: int("".join(filter(str.isdigit, name))))


def statements(query: str) -> list[str]:
    """What the example says, its question last."""
    text = re.sub(r"^--.*\n", "", (QUERIES / f"{query}.sql").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def into_blackhole(query: str, parts: int = 1, held: int = 0) -> str:
    """The query over events without end, its answer for nobody; what writes files does."""
    options = f", 'partitions' = '{parts}'" + (f", 'held' = '{held}'" if held else "")
    *tables, question = (statement.replace(BOUND, options) for statement in statements(query))
    if not question.startswith("INSERT"):
        schema = load_text(";\n".join([*tables, question]), QUERIES, query).program.sinks[-1].schema
        columns = ", ".join(f"`{field.name}` {field.type}" for field in schema)
        tables.append(f"CREATE TABLE answer ({columns}) WITH ('connector' = 'blackhole')")
        question = f"INSERT INTO answer {question}"
    return ";\n".join([*tables, question])


def mixed_rows(status: Status) -> int:
    """Rows of all tables that are read, up to the event up to which every table's are handled."""
    tables = {table: sum(end for _, end in parts.values()) for table, parts in status.ranges.items() if table in SHARES}
    rounds = min((rows / SHARES[table][1] for table, rows in tables.items()), default=0.0)
    return int(rounds * sum(SHARES[table][1] for table in tables))


def settings_of(options: argparse.Namespace) -> dict[str, int]:
    """What is set for a run."""
    return {
        "parallelism": options.parallelism,
        "containers": options.containers,
        "batch.rows": options.batch,
        "max.pending.rows": options.pending,
        "checkpoint.interval.ms": options.checkpoint,
    }


@contextmanager
def running(query: str, options: argparse.Namespace) -> Iterator[Handle]:
    """The query while it runs."""
    with tempfile.TemporaryDirectory(prefix="nexmark-") as folder:
        shutil.copy(QUERIES / "side_input.csv", folder)
        settings = [(key, str(value)) for key, value in settings_of(options).items()]
        text = into_blackhole(query, options.parallelism, options.held)
        handle = start(load_text(text, Path(folder), query, settings))
        try:
            yield handle
        finally:
            handle.stop()


def run(query: str, options: argparse.Namespace) -> None:
    """Run one query for a while and print its line."""
    with running(query, options) as handle:
        figures = measure(handle, acked_rows(handle, mixed_rows), options.warm_up, options.seconds)
    said = {"engine": "ouzel", "workload": f"W2-{query}", "mode": "heron", **settings_of(options)}
    print_line(said | {"held": options.held} if options.held else said, figures)


def arguments(doc: str) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", help=f"default all: {', '.join(query_names())}")
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--containers", type=int, default=1)
    parser.add_argument("--batch", type=int, default=25_000, help="most rows a source reads into one batch")
    parser.add_argument("--pending", type=int, default=100_000, help="most rows a source task may have unacked")
    parser.add_argument(
        "--held", type=int, default=0, help="so many events are made once and repeated; 0: all are made"
    )
    parser.add_argument("--checkpoint", type=int, default=10_000, help="milliseconds from epoch to epoch; 0: none")
    parser.add_argument("--warm-up", type=float, default=4, help="seconds before the measured window")
    parser.add_argument("--seconds", type=float, default=8, help="length of the measured window")
    return parser.parse_args()


def main() -> None:
    """Run the queries named, one after the other."""
    options = arguments(__doc__ or "")
    for query in options.queries or query_names():
        run(query, options)


if __name__ == "__main__":
    main()
