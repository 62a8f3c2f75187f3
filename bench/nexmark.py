"""Nexmark queries on this machine, those of sql_examples/nexmark over events that never end. One JSON line for each.

    python -m bench.nexmark                       every query
    python -m bench.nexmark q1 q12 q17            some
    python -m bench.nexmark q15 --parallelism 2

`rows` are the rows of the tables that the query reads, acked; the query writes into a blackhole, at least once.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from pathlib import Path

from bench.figures import acked_rows, measure, print_line
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


def into_blackhole(query: str) -> str:
    """The query over events without end, its answer for nobody; what writes files does."""
    *tables, question = (statement.replace(BOUND, "") for statement in statements(query))
    if not question.startswith("INSERT"):
        schema = load_text(";\n".join([*tables, question]), QUERIES, query).program.sinks[-1].schema
        columns = ", ".join(f"`{field.name}` {field.type}" for field in schema)
        tables.append(f"CREATE TABLE answer ({columns}) WITH ('connector' = 'blackhole')")
        question = f"INSERT INTO answer {question}"
    return ";\n".join([*tables, question])


def run(query: str, options: argparse.Namespace) -> None:
    """Run one query for a while and print its line."""
    pairs = {"parallelism": options.parallelism, "containers": options.containers, "max.pending.rows": options.pending}
    with tempfile.TemporaryDirectory(prefix="nexmark-") as folder:
        shutil.copy(QUERIES / "side_input.csv", folder)
        settings = [(key, str(value)) for key, value in pairs.items()]
        handle = start(load_text(into_blackhole(query), Path(folder), query, settings))
        try:
            figures = measure(handle, acked_rows(handle), options.warm_up, options.seconds)
        finally:
            handle.stop()
    print_line({"engine": "ouzel", "workload": f"W2-{query}", "mode": "heron", **pairs}, figures)


def main() -> None:
    """Run the queries named, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", help=f"default all: {', '.join(query_names())}")
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--containers", type=int, default=1)
    parser.add_argument("--pending", type=int, default=100_000, help="most rows a source task may have unacked")
    parser.add_argument("--warm-up", type=float, default=4, help="seconds before the measured window")
    parser.add_argument("--seconds", type=float, default=8, help="length of the measured window")
    options = parser.parse_args()
    for query in options.queries or query_names():
        run(query, options)


if __name__ == "__main__":
    main()
