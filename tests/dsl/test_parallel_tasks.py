"""Spouts whose tasks all read the same file, and bolts whose tasks each count a part of a key, are told of; what may be meant is not."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel.compiler.catalog import QueryWarning

HERE = __file__
CODES = str(Path(HERE).parent / "__init__.py")
LINE, WORD, COUNT = ouzel.schema(line=str), ouzel.schema(word=str), ouzel.schema(word=str, occurrences=int)


def told(program: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    return [str(one.message) for one in caught if issubclass(one.category, QueryWarning)]


class Lines(ouzel.RowSpout):
    """Reads a file whose path is a constant."""

    fields = ("line",)

    def open(self, context: ouzel.Context) -> None:
        self.file: Any = open(HERE)  # noqa: SIM115

    def next_row(self) -> Any:
        line = self.file.readline()
        return (line,) if line else None


class Attribute(Lines):
    """Reads a file whose path it was given."""

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self, context: ouzel.Context) -> None:
        self.file = open(self.path)  # noqa: SIM115


class Rows(ouzel.RowSpout):
    """Reads by Polars."""

    fields = ("line",)

    def open(self, context: ouzel.Context) -> None:
        self.pending = iter(pl.read_csv(HERE).rows())

    def next_row(self) -> Any:
        return next(self.pending, None)


class Divided(Lines):
    """Leaves out what is another task's."""

    def open(self, context: ouzel.Context) -> None:
        self.file = open(HERE)  # noqa: SIM115
        self.context = context

    def next_row(self) -> Any:
        for _ in range(self.context.index):
            self.file.readline()
        return super().next_row()


class HandsOn(Lines):
    """Somebody else divides."""

    def open(self, context: ouzel.Context) -> None:
        self.file = open(HERE)  # noqa: SIM115
        prepare(self, context)


def prepare(*_: object) -> None:
    """Does what it likes."""


class Written(Lines):
    """Writes a file."""

    def open(self, context: ouzel.Context) -> None:
        self.log = open("a file that is not there", "w")  # noqa: SIM115
        self.file = iter(["a"])


class Knows(Lines):
    """Reads what each task has to know, and takes its rows from elsewhere."""

    def open(self, context: ouzel.Context) -> None:
        self.known = open(CODES).read().split()  # noqa: SIM115
        self.pending = iter(["a"])

    def next_row(self) -> Any:
        line = next(self.pending, None)
        return None if line is None or line in self.known else (line,)


class Again(Lines):
    """Gives load: begins again at the end."""

    def next_row(self) -> Any:
        line = self.file.readline()
        if not line:
            self.file.seek(0)
        return (line,)


def set_spout(spout: ouzel.Spout, parallelism: int = 2) -> None:
    ouzel.TopologyBuilder("t").set_spout("lines", spout, LINE, parallelism=parallelism)


@pytest.mark.parametrize("spout", [Lines(), Attribute(HERE), Rows()], ids=lambda one: type(one).__name__)
def test_a_file_that_each_task_reads_is_told_of(spout: ouzel.Spout) -> None:
    assert told(lambda: set_spout(spout)) == [
        f"each of the 2 tasks of 'lines' reads the whole of {HERE}, so that each row comes 2 times; write parallelism=1, or leave out "
        "in each task what is another's, by context.index and context.parallelism"
    ]
    assert not told(lambda: set_spout(spout, 1))


@pytest.mark.parametrize(
    "spout",
    [Divided(), HandsOn(), Attribute("a file that is not there"), Written(), Knows(), Again()],
    ids=lambda one: type(one).__name__,
)
def test_files_that_are_divided_or_are_not_the_rows_are_not(spout: ouzel.Spout) -> None:
    assert not told(lambda: set_spout(spout))


class Count(ouzel.Bolt):
    """Counts, and says it at the end."""

    def open(self, context: ouzel.Context) -> None:
        self.counts: Counter[str] = Counter()

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        self.counts.update(batch.frame["word"])
        collector.ack(batch)

    def finish(self, collector: ouzel.Collector) -> None:
        collector.emit(pl.DataFrame(list(self.counts.items()), schema=["word", "occurrences"], orient="row"))


class Added(Count):
    """The same, item by item."""

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        for word in batch.frame["word"]:
            self.counts[word] += 1
        collector.ack(batch)


class Rowwise(Count):
    """Counts how many rows its task has had, which is what it says."""

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        self.counts["rows"] += len(batch)
        collector.ack(batch)


class Stored(Count):
    """Keeps the last of each key, and adds nothing up."""

    def open(self, context: ouzel.Context) -> None:
        self.counts = {}  # type: ignore[assignment]

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        self.counts.update(batch.frame.iter_rows())
        collector.ack(batch)


def count(
    bolt: ouzel.Bolt, grouping: str = "shuffle_grouping", *given: str, tasks: int = 2, behind: bool = False
) -> Iterable[str]:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("words", Lines(), ouzel.schema(word=str))
    getattr(builder.set_bolt("count", bolt, COUNT, parallelism=tasks), grouping)("words", *given)
    if behind:
        builder.set_bolt("total", Count(), COUNT).fields_grouping("count", "word")
    return told(builder.build)


@pytest.mark.parametrize("bolt", [Count(), Added()], ids=lambda one: type(one).__name__)
def test_a_key_that_is_counted_in_several_tasks_is_told_of(bolt: ouzel.Bolt) -> None:
    assert count(bolt) == [
        "each of the 2 tasks of 'count' counts in self.counts those rows that shuffle_grouping gives it, so that a key may have a total "
        "in each; write fields_grouping('words', 'word'), or parallelism=1, or add the totals up in a bolt behind it"
    ]


def test_totals_of_a_key_in_one_task_and_parts_that_are_added_up_are_not() -> None:
    assert not count(Count(), tasks=1)
    assert not count(Count(), behind=True)
    assert not count(Count(), "fields_grouping", "word")
    assert not count(Count(), "partial_key_grouping", "word")
    assert not count(Stored())
    assert not count(Rowwise())


class Blank(Lines):
    """Takes None for nothing in this line."""

    def open(self, context: ouzel.Context) -> None:
        self.file = open(HERE)  # noqa: SIM115

    def next_row(self) -> Any:
        line = self.file.readline()
        return (line,) if line.strip() else None


class First(Lines):
    """Some of the lines."""

    def next_row(self) -> Any:
        self.left = vars(self).get("left", 5) - 1
        return super().next_row() if self.left >= 0 else None


def run(spout: ouzel.Spout) -> list[str]:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("lines", spout, LINE)
    return told(lambda: ouzel.table(builder.build(), "memory", of="lines"))


def test_none_in_the_middle_of_a_file_is_told_of() -> None:
    assert run(Blank()) == [
        "next_row of 'lines' gave None, which is the end, and has more rows: to leave a line out read the next in a loop, or return "
        "self.NOTHING_NOW"
    ]


def test_none_at_the_end_is_not() -> None:
    assert not run(Lines())
    assert not run(First())
