"""Parts hold what gathers between two flushes; wherever the task dies, its successor writes each batch once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pytest

from ouzel import files
from ouzel.connectors import open_sink
from ouzel.connectors.file import ledger
from ouzel.connectors.file import parts as part_folder
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.errors import ConnectorError
from tests.effort import seeds

BATCHES = 40


class Crash(BaseException):
    """The process ends here: nothing that would clean up is run."""


def opened(directory: Path, run: str = "0a") -> SinkWriter:
    options = {"path": "out", "format": "json"}
    columns: dict[str, pl.DataType] = {"n": pl.Int64()}
    return open_sink(
        "file", SinkRequest("t", options, columns, "append", directory, run=run, notes=directory / "notes")
    )


def rows(number: int) -> pl.DataFrame:
    return pl.DataFrame({"n": [number]})


def parts(directory: Path) -> list[Path]:
    return sorted((directory / "out").glob("*.json"))


def written(directory: Path) -> list[int]:
    return sorted(row for part in parts(directory) for row in pl.read_ndjson(part)["n"].to_list())


def crashing(step: Callable[..., Any], random: Random) -> Callable[..., Any]:
    """The step, before or after which the process may die."""

    def attempt(*arguments: Any) -> Any:
        if random.random() < 0.1:
            raise Crash
        result = step(*arguments)
        if random.random() < 0.1:
            raise Crash
        return result

    return attempt


def test_another_folder_in_the_place_of_its_own_is_told(tmp_path: Path) -> None:
    """Each part is written anew by its name: the later ones would lie in the new folder, and nobody knew of it."""
    writer = opened(tmp_path)
    writer.write(0, rows(0))
    writer.flush()
    (tmp_path / "out").rename(tmp_path / "moved")
    (tmp_path / "moved").rename(tmp_path / "out")
    writer.write(1, rows(1))
    writer.flush()
    (tmp_path / "out").rename(tmp_path / "moved")
    (tmp_path / "out").mkdir()
    writer.write(2, rows(2))
    with pytest.raises(ConnectorError, match="out: another folder has taken its place"):
        writer.flush()
    assert not parts(tmp_path)


def test_one_flush_makes_one_part(tmp_path: Path) -> None:
    writer = opened(tmp_path)
    for number in range(100):
        writer.write(number, rows(number))
    writer.flush()
    writer.flush()
    assert len(parts(tmp_path)) == 1
    assert written(tmp_path) == list(range(100))


@pytest.mark.parametrize("seed", seeds())
def test_wherever_the_task_dies_each_batch_is_written_once(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    for place, name in (
        (part_folder, "sync"),
        (files, "sync"),
        (ledger.PartLedger, "note"),
        (ledger.PartLedger, "_append"),
        (Path, "rename"),
    ):
        monkeypatch.setattr(place, name, crashing(getattr(place, name), random))
    pending = list(range(BATCHES))
    while pending:
        try:
            writer = opened(tmp_path)
            random.shuffle(pending)  # replays come in any order and company
            while pending:
                sent = pending[: random.randint(1, 9)]
                for number in sent:
                    writer.write(number, rows(number))
                writer.flush()
                lost = [
                    number for number in sent if random.random() < 0.1
                ]  # acks that the process did not live to send
                pending = lost + pending[len(sent) :]
        except Crash:
            continue
    assert written(tmp_path) == list(range(BATCHES))
    monkeypatch.undo()
    opened(tmp_path)
    assert not list((tmp_path / "out").glob(".*"))


def test_a_ledger_forgets_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "REMEMBERED", 10)
    kept = ledger.PartLedger(tmp_path / "notes", lambda first: True)
    for number in range(0, 1_000, 4):
        kept.note(range(number, number + 4))
    again = ledger.PartLedger(tmp_path / "notes", lambda first: True)
    for one in (kept, again):
        assert all(number in one for number in range(990, 1_000))
        assert 900 not in one
    assert (tmp_path / "notes").stat().st_size < 20 * 17


def test_a_torn_line_of_a_ledger_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text(f"{ledger.digits(1)} {ledger.digits(2)}\n{ledger.digits(3)} {ledger.digits(4)[:7]}")
    kept = ledger.PartLedger(tmp_path / "notes", lambda first: True)
    assert [number in kept for number in (1, 2, 3, 4)] == [True, True, False, False]


def test_another_run_writes_the_same_batches(tmp_path: Path) -> None:
    for run in ("0a", "0b"):
        (tmp_path / "notes").unlink(missing_ok=True)
        writer = opened(tmp_path, run)
        writer.write(1, rows(1))
        writer.flush()
    assert written(tmp_path) == [1, 1]


def test_csv_tells_an_empty_text_from_null_as_duckdb_writes_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2, 3], "word": ["", None, "a"]})
    options = {"path": "out", "format": "csv"}
    columns: dict[str, pl.DataType] = {"id": pl.Int64(), "word": pl.String()}
    writer = open_sink("file", SinkRequest("t", options, columns, "append", tmp_path))
    writer.write(1, frame)
    writer.flush()
    duckdb.from_arrow(frame.to_arrow()).write_csv(str(tmp_path / "expected.csv"))
    (part,) = (tmp_path / "out").glob("*.csv")
    assert part.read_text() == (tmp_path / "expected.csv").read_text() == 'id,word\n1,""\n2,\n3,a\n'
