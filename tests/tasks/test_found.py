"""Files come while the tasks that share them out start: none is read twice, and none that was there before is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors import open_source
from ouzel.connectors.file import source as file_source
from ouzel.connectors.reading import Committed, Partition, SourceRequest
from ouzel.errors import ConnectorError, TopologyError
from ouzel.planner.topology import Task
from ouzel.runtime.simulator.world import World
from ouzel.runtime.tasks.found import FoundInFiles, FoundInMemory
from ouzel.runtime.tasks.journal import MemoryJournal
from ouzel.runtime.tasks.partitions import Partitions
from ouzel.session import load_text

QUERY = "SELECT line FROM read_text('*.txt');"


def test_no_file_is_read_twice_or_never_because_others_come_while_tasks_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "klmn":
        (tmp_path / f"{name}.txt").write_text(f"{name}\n")
    job = load_text(QUERY, tmp_path, "q", (("parallelism", "3"),))
    looks = iter("abcdefghij")

    def busy(path: str, directory: Path) -> list[str]:
        (tmp_path / f"{next(looks)}.txt").write_text("new\n")
        return find(path, directory)

    find = file_source.find_files
    monkeypatch.setattr(file_source, "find_files", busy)
    world = World(job.topology, job.packing, tmp_path, 1)
    while not world.done and not world.failed:
        if not world.step():
            world.rest()
    read = sorted(line for frame in world.frames.values() for line in frame["line"])
    assert read == ["k", "l", "m", "n", "new"]


def dealt(found: FoundInFiles, directory: Path, task: int, end: str = "json") -> list[str]:
    """The files that one of two tasks reads."""
    request = SourceRequest("t", {"path": f"*.{end}", "format": end}, {"id": pl.Int64()}, directory, tasks=2)
    source = open_source("file", request)
    parts = Partitions(
        Task(task, "t", task), 2, source, {}, MemoryJournal(), find=lambda: found.once("t", source.partitions)
    )
    fresh = parts.fresh()
    for progress in fresh:
        progress.read(1)
    return [Path(progress.partition.id).name for progress in fresh]


def test_a_task_that_starts_again_has_the_files_that_it_had(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in "bcde":
        (tmp_path / f"{name}.json").write_text('{"id": 1}\n')
    assert dealt(FoundInFiles(notes), tmp_path, 0) == ["b.json", "d.json"]
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    assert dealt(FoundInFiles(notes), tmp_path, 1) == ["c.json", "e.json"]
    assert dealt(FoundInFiles(notes), tmp_path, 0) == ["b.json", "d.json"]
    assert len(list(notes.iterdir())) == 1
    (tmp_path / "e.json").unlink()
    with pytest.raises(ConnectorError, match=r"e\.json cannot be read"):
        dealt(FoundInFiles(notes), tmp_path, 1)


def test_of_two_tasks_that_look_at_once_one_says_what_was_found(tmp_path: Path) -> None:
    first, second = FoundInFiles(tmp_path), FoundInFiles(tmp_path)
    late: Callable[[], list[Partition]] = lambda: [Partition("late", True, 3, "called", "version")]  # noqa: E731

    def early() -> list[Partition]:
        assert list(second.once("t", late)) == late()
        return [Partition("early", True)]

    assert list(first.once("t", early)) == late()
    assert list(first.once("u", lambda: [Partition("other", True)])) == [Partition("other", True)]


def test_ranges_of_rows_are_those_of_the_file_whose_rows_were_counted(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    table = pl.DataFrame({"id": range(40)})
    table.write_parquet(tmp_path / "a.parquet", row_group_size=10)
    assert dealt(FoundInFiles(notes), tmp_path, 0, "parquet") == ["a.parquet#0-20"]
    table.head(30).write_parquet(tmp_path / "a.parquet", row_group_size=10)
    with pytest.raises(ConnectorError, match=r"a\.parquet was replaced or changed while it was read"):
        dealt(FoundInFiles(notes), tmp_path, 1, "parquet")


def test_a_list_that_cannot_be_noted_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match=r"which partitions are read cannot be noted in .*: No such file"):
        FoundInFiles(tmp_path / "gone").once("t", lambda: [Partition("p", True)])


@pytest.mark.parametrize("in_files", [False, True])
def test_what_was_committed_before_the_run_is_what_the_first_task_has_found(in_files: bool, tmp_path: Path) -> None:
    found = FoundInFiles(tmp_path) if in_files else FoundInMemory()
    first, later = {"t-0": Committed(7, '{"read": 9}')}, {"t-0": Committed(9), "t-1": Committed(1)}
    assert found.remember_committed("reads", first) == first
    again = FoundInFiles(tmp_path) if in_files else found
    assert again.remember_committed("reads", later) == first
    assert again.remember_committed("other", later) == later
