"""Epochs as parts in a folder: whole, once, whatever dies while they get their names."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors.file import publisher as module
from ouzel.connectors.file.publisher import FilePublisher
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError


def opened(directory: Path, component: str = "out", mode: str = "append", **options: str) -> FilePublisher:
    given = {"path": "out", "format": "parquet", **options}
    request = SinkRequest("t", given, {"n": pl.Int64()}, mode, directory, run="r", task=3, component=component)
    return FilePublisher(request)


def rows(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"n": numbers}, {"n": pl.Int64()})


def read(directory: Path) -> list[int]:
    """What a reader sees: hidden files are no parts."""
    return [n for part in sorted((directory / "out").glob("[!.]*")) for n in pl.read_parquet(part)["n"]]


def test_an_epoch_is_a_part_that_tells_task_and_epoch(tmp_path: Path) -> None:
    made = opened(tmp_path)
    assert made.last_published() == 0
    made.publish(4, [rows(1), rows(2, 3)])
    made.publish(7, iter([rows(4)]))
    assert read(tmp_path) == [1, 2, 3, 4]
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert [name.split("-")[:3] + name.split("-")[4:] for name in names] == [
        ["part", "r", "00003", "0000000004", "0000.parquet"],
        ["part", "r", "00003", "0000000007", "0000.parquet"],
    ]
    assert opened(tmp_path).last_published() == 7


def test_of_two_sinks_of_one_table_each_has_epochs_of_its_own(tmp_path: Path) -> None:
    opened(tmp_path, "one").publish(5, [rows(1)])
    other = opened(tmp_path, "other")
    assert other.last_published() == 0
    other.publish(5, [rows(2)])
    assert sorted(read(tmp_path)) == [1, 2]


@pytest.mark.parametrize("renamed", range(4))
def test_one_that_dies_while_parts_get_their_names_has_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    monkeypatch.setattr(module, "PART_ROWS", 2)
    frames, left = [rows(1, 2), rows(3, 4), rows(5)], [renamed]
    rename = Path.rename

    def die_soon(path: Path, to: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return rename(path, to)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", die_soon)
        if renamed < 3:
            with pytest.raises(KeyboardInterrupt):
                opened(tmp_path).publish(2, frames)
        else:
            opened(tmp_path).publish(2, frames)
    successor = opened(tmp_path)
    assert successor.last_published() == (2 if renamed == 3 else 0)
    if renamed < 3:
        successor.publish(2, frames)
    assert read(tmp_path) == [1, 2, 3, 4, 5]
    assert list((tmp_path / "out").glob(".*")) == []


def test_changes_have_a_column_that_says_so_and_text_has_its_header(tmp_path: Path) -> None:
    made = opened(tmp_path, mode="retract", changelog="true", format="csv")
    made.publish(1, [rows(1).with_columns(pl.lit(-1, pl.Int64).alias("$weight"))])
    (part,) = (tmp_path / "out").iterdir()
    assert part.read_text() == "n,op\n1,-1\n"


def test_a_folder_that_another_took_the_place_of_is_told(tmp_path: Path) -> None:
    made = opened(tmp_path)
    (tmp_path / "out").rename(tmp_path / "away")
    (tmp_path / "out").mkdir()
    with pytest.raises(ConnectorError, match="another folder has taken its place"):
        made.publish(1, [rows(1)])
