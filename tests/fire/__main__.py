"""Run pairs under fire, and print what became of their events; `--write` into what `make docs` puts into docs/connectors.md as well."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.fire.pairs import Grounds, Outcome, grounds, run_pair
from tests.fire.places import PLACES

PAGE = Path(__file__).parents[2] / "doc_sources" / "connectors_fire_counts.txt"


def main() -> int:
    """Run what was asked for; how many pairs did not hold."""
    asked = _arguments()
    pairs = [tuple(name.split("-")) for name in asked.pairs] or [(source, sink) for source in PLACES for sink in PLACES]
    failed, lines = 0, list[str]()
    with grounds() as places:
        for pair in pairs:
            outcome = _run(places, pair, asked)
            failed += outcome is None or outcome.lost > 0
            if outcome and asked.write:
                lines.append(_line(pair, outcome))
                PAGE.write_text(_page(lines, asked))
    return failed


def _run(places: Grounds, pair: tuple[str, ...], asked: argparse.Namespace) -> Outcome | None:
    """None if it did not end as it should have."""
    began, outcome = time.monotonic(), None
    try:
        outcome = run_pair(places, (pair[0], pair[1]), asked.seed, asked.events, asked.rounds)
        said = f"LOST: {outcome}" if outcome.lost else str(outcome)
    except AssertionError as error:
        said = f"FAILED: {error}"
    print(f"{pair[0]:8} {pair[1]:8} {time.monotonic() - began:6.1f} s  {said}", flush=True)
    return outcome


def _line(pair: tuple[str, ...], outcome: Outcome) -> str:
    return (
        f"| {pair[0]} | {pair[1]} | {outcome.events:,} | {len(outcome.faults)} | {outcome.lost:,} | {outcome.twice:,} |"
    )


def _page(lines: list[str], asked: argparse.Namespace) -> str:
    head = f"Seed {asked.seed}, {datetime.now(UTC):%d %B %Y}:\n\n| from | to | events | faults | lost | twice |\n"
    return f"{head}|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fire", description=__doc__)
    parser.add_argument("pairs", nargs="*", metavar="SOURCE-SINK", help=f"of {', '.join(PLACES)}; all if none is named")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=1, help="how often there is each fault")
    parser.add_argument("--write", action="store_true", help=f"write the counts into {PAGE.name}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(min(main(), 100))
