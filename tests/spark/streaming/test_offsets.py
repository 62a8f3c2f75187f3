"""How far a source reaches, and how a micro-batch is dealt among partitions: no Spark."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors import open_source
from ouzel.connectors.reading import OffsetRange, Partition, ReadBatch, Source, SourceRequest
from ouzel.spark.streaming.offsets import Position, Surveyor


class Shelf:
    """A source of given partitions with so many rows each."""

    def __init__(self, rows: dict[str, int], bounded: bool = True) -> None:
        self.rows, self.bounded, self.asked = rows, bounded, list[str]()

    def partitions(self) -> list[Partition]:
        return [Partition(name, self.bounded) for name in self.rows]

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        self.asked.append(partition.id)
        start, there = offset or 0, self.rows[partition.id]
        end = max(start, min(start + rows, there))
        return OffsetRange(start, end, self.bounded and end == there)


def steps(surveyor: Surveyor, rows: int) -> list[dict[str, int]]:
    position, seen = Position("t"), list[dict[str, int]]()
    while not position.ended:
        position = surveyor.advance(position, rows)
        seen.append({name: at for name, (_, at) in position.parts.items()})
    return seen


def test_partitions_are_read_alike_and_what_one_leaves_the_others_get() -> None:
    assert steps(Surveyor(Shelf({"a": 10, "b": 2, "c": 10}), ordered=False, grows=False), 9) == [
        {"a": 4, "b": 2, "c": 3},
        {"a": 9, "b": 2, "c": 7},
        {"a": 10, "b": 2, "c": 10},
    ]


def test_files_are_read_one_after_the_other() -> None:
    assert steps(Surveyor(Shelf({"a": 5, "b": 5}), ordered=True, grows=False), 4) == [
        {"a": 4},
        {"a": 5, "b": 3},
        {"a": 5, "b": 5},
    ]


def test_what_was_read_to_its_end_is_not_asked_again() -> None:
    shelf = Shelf({"a": 1, "b": 9})
    steps(Surveyor(shelf, ordered=True, grows=False), 4)
    assert shelf.asked.count("a") == 1


def test_partitions_that_appear_are_found_and_a_source_without_end_never_ends() -> None:
    now = [0.0]
    shelf = Shelf({"a": 5}, bounded=False)
    surveyor = Surveyor(shelf, False, False, lambda: now[0])
    position = surveyor.advance(Position("t"), 100)
    shelf.rows |= {"b": 3, "a": 7}
    position = surveyor.advance(position, 100)
    assert position == Position("t", {"a": (0, 7)})
    now[0] = 5.0
    position = surveyor.advance(position, 100)
    assert position == Position("t", {"a": (0, 7), "b": (0, 3)})


def test_a_position_is_what_it_was_written_as() -> None:
    position = Position("t", {"a-0": (3, 17), "b": (0, 0)}, True)
    assert Position.from_json(json.loads(json.dumps(position.to_json()))) == position


LINES = {"json": '{"n": %d}\n', "csv": '"%d\n"\n', "raw": "%d\n"}


@pytest.mark.parametrize(("shape", "rows"), [("json", 7), ("csv", 7), ("raw", 1), ("json", 1000), ("parquet", 7)])
def test_a_reach_is_where_a_reader_comes(tmp_path: Path, shape: str, rows: int) -> None:
    if shape == "parquet":
        pl.DataFrame({"n": range(50)}).write_parquet(tmp_path / "rows", row_group_size=20)
    else:
        text = ("n\n" if shape == "csv" else "") + "".join(LINES[shape] % number for number in range(50))
        (tmp_path / "rows").write_text(text.rstrip("\n"))
    assert reached(open_file(tmp_path, shape), rows) == read(open_file(tmp_path, shape), rows)


def test_made_up_rows_reach_as_far_as_they_are_made(tmp_path: Path) -> None:
    def source() -> Source:
        options = {"rows": "50", "partitions": "3"}
        return open_source("datagen", SourceRequest("t", options, {"n": pl.Int64()}, tmp_path))

    assert reached(source(), 8) == read(source(), 8)


def open_file(folder: Path, shape: str) -> Source:
    kind = pl.String() if shape in ("csv", "raw") else pl.Int64()
    return open_source("file", SourceRequest("t", {"path": "rows", "format": shape}, {"n": kind}, folder))


def reached(source: Source, rows: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for partition in source.partitions():
        offset, last = None, False
        while not last:
            reach = source.reach(partition, offset, rows)
            offset, last = reach.end, reach.last
            found.append((reach.start, reach.end))
    source.close()
    return found


def read(source: Source, rows: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for partition in source.partitions():
        reader = source.reader(partition, None)
        while isinstance(batch := reader.read(rows), ReadBatch):
            found.append((batch.start, batch.end))
        reader.close()
    return found
