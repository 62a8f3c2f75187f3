"""Nexmark queries on this machine, those that the language reaches. One JSON line for each.

    python -m bench.nexmark                       every query
    python -m bench.nexmark q1 q12 q17            some
    python -m bench.nexmark q15 --parallelism 2

`rows` are the rows of the tables that the query reads, acked; the query writes into a blackhole, at least once.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench.figures import acked_rows, measure, print_line
from ouzel.session import load, start

QUERIES = Path(__file__).parent / "nexmark_queries"
TABLES = "tables"


def query_names() -> list[str]:
    """All queries, in their numbers' order."""
    names = [file.stem for file in QUERIES.glob("q*.sql")]
    return sorted(names, key=lambda name: int("".join(filter(str.isdigit, name))))


def run(query: str, options: argparse.Namespace) -> None:
    """Run one query for a while and print its line."""
    text = "\n".join((QUERIES / f"{name}.sql").read_text(encoding="utf-8") for name in (TABLES, query))
    pairs = {"parallelism": options.parallelism, "containers": options.containers, "max.pending.rows": options.pending}
    with tempfile.TemporaryDirectory(prefix="nexmark-") as folder:
        file = Path(folder) / f"{query}.sql"
        file.write_text(text, encoding="utf-8")
        handle = start(load(file, [(key, str(value)) for key, value in pairs.items()]))
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
