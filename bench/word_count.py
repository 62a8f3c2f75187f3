"""Heron's word count on this machine: spouts draw random words, bolts count them. One JSON line for a run.

    python -m bench.word_count                                    1 spout, 1 bolt, at least once, 175,000 words, 40,000 pending
    python -m bench.word_count --rate 1000000 --batch 1000        latency at a tenth of the load
    python -m bench.word_count --words 450000 --bolts 2           two bolts behind a fields grouping
    python -m bench.word_count --no-acks                          at most once
    python -m bench.word_count --sql                              SELECT word, COUNT(*) ... GROUP BY word EMIT CHANGES
    python -m bench.word_count --sql --checkpoint 10000           and an epoch every 10 s
    python -m bench.word_count --sql --checkpoint 10000 --into file                         written into Parquet files, at least once
    python -m bench.word_count --sql --checkpoint 10000 --into file --effectively-once      and each row once, whatever dies

`rows` are words counted by the bolts (for SQL: words acked); latency is complete, from emit to ack.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.figures import Counter, acked_rows, measure, print_line
from bench.words import distinct_words
from ouzel.planner.api import Batch, Bolt, Collector, Context, Spout, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.packing import pack
from ouzel.planner.settings import Delivery, Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.run import Handle
from ouzel.runtime.state.columns import SlotColumns
from ouzel.runtime.state.hashing import key_hashes
from ouzel.runtime.state.index import KeyIndex
from ouzel.session import Job, load, start

METER_INTERVAL_S = 0.1

INTO = {
    "blackhole": {"key": ", PRIMARY KEY (word) NOT ENFORCED", "options": "'connector' = 'blackhole'"},
    "file": {
        "key": "",
        "options": "'connector' = 'file', 'path' = 'counts', 'format' = 'parquet', 'changelog' = 'true'",
    },
}
"""Where the counts of --sql go."""


class WordSpout(Spout):
    """Random words of a list, `batch` at a time; with a `rate`, so many words a second and no more."""

    def __init__(self, distinct: int, batch: int, rate: float) -> None:
        self.distinct, self.batch, self.rate = distinct, batch, rate

    def open(self, context: Context) -> None:
        """Make the list."""
        self.words = distinct_words(self.distinct).to_frame()
        self.random = np.random.default_rng(context.index)
        self.share = self.rate / context.parallelism
        self.opened_s, self.sent = time.monotonic(), 0

    def next_batch(self, collector: Collector) -> bool | None:
        """One batch, unless the rate says that it is too early."""
        if self.share and self.sent >= (time.monotonic() - self.opened_s) * self.share:
            return None
        places = self.random.integers(0, self.distinct, self.batch, dtype=np.uint32)
        collector.emit(self.words[places], message_id=self.sent)
        self.sent += self.batch
        return True


class CountBolt(Bolt):
    """Counts words, and tells how many it has seen in a file of `directory`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open(self, context: Context) -> None:
        """Start from nothing."""
        self.file = self.directory / f"bolt-{context.task}"
        self.index, self.counts = KeyIndex(), SlotColumns({"count": np.int64})
        self.seen, self.told_s = 0, 0.0

    def execute(self, batch: Batch, collector: Collector) -> None:
        """Add one to the count of every word."""
        slots = self.index.find_or_insert(*key_hashes(batch.frame, ("word",), seed=0))
        self.counts.reserve(self.index.limit)
        np.add.at(self.counts["count"], slots, 1)
        self.seen += len(batch)
        collector.ack(batch)
        if (now := time.time()) >= self.told_s + METER_INTERVAL_S:
            self.told_s = now
            draft = self.file.with_suffix(".draft")
            draft.write_text(f"{now} {self.seen}")
            os.replace(draft, self.file)


def counted_words(directory: Path) -> Counter:
    """Words that all bolts together have counted, at the mean of the moments when they told."""

    def read() -> tuple[float, int]:
        told = [file.read_text().split() for file in directory.glob("bolt-*") if not file.suffix]
        times = [float(when) for when, _ in told] or [time.time()]
        return sum(times) / len(times), sum(int(count) for _, count in told)

    return read


def word_count(options: argparse.Namespace, directory: Path) -> Topology:
    """The topology."""
    delivery = Delivery.AT_LEAST_ONCE if options.acks else Delivery.AT_MOST_ONCE
    settings = Settings(delivery=delivery, containers=options.containers, max_pending_rows=options.pending)
    builder = TopologyBuilder("word-count", settings)
    spout = WordSpout(options.words, options.batch, options.rate)
    builder.set_spout("words", spout, schema(word=str), options.spouts)
    builder.set_bolt("counts", CountBolt(directory), parallelism=options.bolts).fields_grouping("words", "word")
    return builder.build()


def start_topology(options: argparse.Namespace, directory: Path) -> tuple[Handle, Counter]:
    """The word count on the topology API."""
    topology = word_count(options, directory)
    return start_heron(topology, pack(topology), directory), counted_words(directory)


def load_sql(options: argparse.Namespace, directory: Path, **more: str) -> Job:
    """The word count as SQL, with `more` settings."""
    query = (Path(__file__).parent / "word_count.sql").read_text(encoding="utf-8")
    file = directory / "word_count.sql"
    file.write_text(query.format(words=options.words, **INTO[options.into]), encoding="utf-8")
    least = "effectively-once" if options.effectively_once else "at-least-once"
    pairs = {
        "delivery": least if options.acks else "at-most-once",
        "containers": options.containers,
        "max.pending.rows": options.pending,
        "batch.rows": options.batch,
        "parallelism": options.bolts,
        "checkpoint.interval.ms": options.checkpoint,
    }
    return load(file, [(key, str(value)) for key, value in (pairs | more).items()])


def start_sql(options: argparse.Namespace, directory: Path) -> tuple[Handle, Counter]:
    """The word count as SQL, started."""
    handle = start(load_sql(options, directory))
    return handle, acked_rows(handle)


def description(options: argparse.Namespace) -> dict[str, Any]:
    """What was run, as the peers' lines say it."""
    workload = "W1" + ("-sql" if options.sql else "") + ("-acks" if options.acks else "-noacks")
    names = ("words", "spouts", "bolts", "containers", "batch", "pending")
    chosen = {name: getattr(options, name) for name in names} | ({"rate": options.rate} if options.rate else {})
    if options.sql:
        chosen |= {"into": options.into, "checkpoint": options.checkpoint, "effectively_once": options.effectively_once}
    return {"engine": "ouzel", "workload": workload, "mode": "heron", **chosen}


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=175_000, help="distinct words (175000 or 450000)")
    parser.add_argument("--spouts", type=int, default=1)
    parser.add_argument("--bolts", type=int, default=1)
    parser.add_argument("--containers", type=int, default=1)
    parser.add_argument(
        "--acks", action=argparse.BooleanOptionalAction, default=True, help="at least once, or at most once"
    )
    parser.add_argument("--batch", type=int, default=10_000, help="words in a batch")
    parser.add_argument("--pending", type=int, default=40_000, help="most words a spout task may have unacked")
    parser.add_argument("--rate", type=float, default=0, help="most words a second; 0 is as many as can be")
    parser.add_argument("--sql", action="store_true", help="the same count as SQL with EMIT CHANGES")
    parser.add_argument(
        "--checkpoint", type=int, default=0, help="milliseconds from epoch to epoch, with --sql; 0 is none"
    )
    parser.add_argument("--into", choices=INTO, default="blackhole", help="where the counts of --sql go")
    parser.add_argument("--effectively-once", action="store_true", help="with --sql and --checkpoint")
    parser.add_argument("--warm-up", type=float, default=5, help="seconds before the measured window")
    parser.add_argument("--seconds", type=float, default=10, help="length of the measured window")
    return parser


def main() -> None:
    """Run once and print the line."""
    options = make_parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="word-count-") as folder:
        handle, rows = (start_sql if options.sql else start_topology)(options, Path(folder))
        try:
            figures = measure(handle, rows, options.warm_up, options.seconds)
        finally:
            handle.stop()
    print_line(description(options), figures)


if __name__ == "__main__":
    main()
