"""What was read and what was written since: told before Spark is asked, by name and by what has become of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ouzel.errors import OuzelError, QueryError
from ouzel.reconcile import reconcile, reconciliation
from ouzel.reconcile.comparing.answers import choose_sink
from ouzel.reconcile.comparing.holding import check_sources, find_changed_parts
from ouzel.reconcile.recording import marks
from ouzel.reconcile.recording.marks import Marked, describe_edit, mark_of
from ouzel.reconcile.recording.record import RECORD, RESULTS
from ouzel.reconcile.recording.recorder import record_in
from ouzel.reconcile.recording.topics import find_recreated
from ouzel.session import Job
from tests.reconcile.planting import DAYS, flights, run, seal

INTO_FILES = """
CREATE TABLE long (id BIGINT, miles DOUBLE) WITH ('connector' = 'file', 'path' = 'long', 'format' = 'FORMAT');
INSERT INTO long SELECT id, miles FROM flights WHERE delay > 200;
"""


NO_SPARK: Any = None


def told(job: Job, home: Path, further: bool = False) -> tuple[str, ...]:
    """What has happened to the answer; `further` if the run may have written more."""
    return find_changed_parts(choose_sink(job.program), record_in(home), home, job, further)


def test_a_run_that_goes_on_may_write_further_parts(tmp_path: Path) -> None:
    job, home = run(INTO_FILES.replace("FORMAT", "parquet"), tmp_path)
    part = min((tmp_path / "long").glob("part-*"))
    shutil.copy(part, part.with_name(f"{part.stem}-more.parquet"))
    assert told(job, home, further=True) == ()
    part.unlink()
    assert "is gone" in told(job, home, further=True)[0]


@pytest.mark.parametrize("form", ["parquet", "csv", "json"])
@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (lambda part: part.unlink(), "is gone"),
        (lambda part: os.truncate(part, 0), "was cut"),
        (lambda part: part.write_bytes(part.read_bytes().swapcase()), "was edited"),
        (lambda part: part.write_bytes(2 * part.read_bytes()), "has grown by"),
        (lambda part: shutil.copy(part, part.with_name(f"{part.stem}-again{part.suffix}")), "was added since the run"),
    ],
)
def test_what_befell_a_part(form: str, fault: Callable[[Path], object], what: str, tmp_path: Path) -> None:
    job, home = run(INTO_FILES.replace("FORMAT", form), tmp_path)
    assert told(job, home) == ()
    part = min((tmp_path / "long").glob("part-*"))
    fault(part)
    torn = form == "parquet" and part.exists() and what in ("was cut", "was edited")
    with pytest.raises(QueryError, match=r"0 bytes|is no Parquet file") if torn else nullcontext():
        assert what in told(job, home)[0]


@pytest.mark.parametrize(
    ("name", "kind", "what"),
    [
        ("flights", pl.Float64, "column 'flights' is Float64 and not Int64"),
        ("miles", pl.String, "column 'miles' is String and not Float64"),
        ("avg_delay", pl.Decimal(20, 3), "column 'avg_delay' is Decimal"),
        ("max_delay", pl.Int64, "column 'max_delay' is Int64 and not Int32"),
    ],
)
def test_another_type_is_told_however_equal_its_values(name: str, kind: pl.DataType, what: str, tmp_path: Path) -> None:
    job, home = run(DAYS, tmp_path)
    pl.read_parquet(home / RESULTS).cast({name: kind}).write_parquet(home / RESULTS)
    seal(home)
    with pytest.raises(QueryError, match=what):
        told(job, home)


def test_a_column_renamed_in_one_part(tmp_path: Path) -> None:
    job, home = run(INTO_FILES.replace("FORMAT", "parquet"), tmp_path)
    part = min((tmp_path / "long").glob("part-*"))
    pl.read_parquet(part).rename({"miles": "kilometres"}).write_parquet(part)
    with pytest.raises(QueryError, match=f"no column 'miles' in {part.name}, a column 'kilometres'"):
        told(job, home)


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (lambda data, path: data.with_columns(delay=pl.lit(1, pl.Int32)).write_parquet(path), "was (edited|cut)"),
        (lambda data, path: os.truncate(path, 1_000), "was cut to 1,000 bytes since the run, from"),
        (lambda data, path: path.unlink(), "flights.parquet is gone"),
    ],
)
def test_a_source_that_changed_since_is_no_difference(
    fault: Callable[[pl.DataFrame, Path], object], what: str, tmp_path: Path
) -> None:
    job, home = run(DAYS, tmp_path)
    sink, record = choose_sink(job.program), record_in(home)
    check_sources(sink, record)
    os.utime(tmp_path / "flights.parquet", (1, 1))
    check_sources(sink, record)
    fault(flights(), tmp_path / "flights.parquet")
    with pytest.raises(QueryError, match=f"the input is not what the run has read: .*{what}"):
        check_sources(sink, record)


def test_what_is_appended_is_no_edit_and_belongs_to_what_was_read_later(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("one\n")
    known = Marked()
    first = known.of([str(path), str(tmp_path / "none")])[str(path)]
    path.write_text("one\ntwo\n")
    assert not describe_edit(str(path), first)
    assert known.of([str(path)])[str(path)].size == 8
    path.write_text("six\ntwo\nten\n")
    assert describe_edit(str(path), known.of([str(path)])[str(path)]) == "was edited since the run"


def test_a_byte_changed_anywhere_is_told_with_its_place_whatever_the_files_time(tmp_path: Path) -> None:
    size = 200 * marks.MEGABYTE + 7
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(size)
    mark, stat = mark_of(path), path.stat()
    assert describe_edit(str(path), mark) == ""
    for at, told in [
        (0, "0 to 1,048,575"),
        (size // 2, "104,857,600 to 105,906,175"),
        (size - 1, "209,715,200 to 209,715,206"),
    ]:
        for grown in (0, 9):
            with path.open("r+b") as file:
                file.seek(at)
                file.write(b"x")
                file.truncate(size + grown)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            assert describe_edit(str(path), mark) == f"was edited since the run in its bytes {told}"
            with path.open("r+b") as file:
                file.seek(at)
                file.write(b"\0")
    assert describe_edit(str(path), mark) == ""


def test_what_was_edited_before_it_grew_is_told_of_a_run_that_goes_on(tmp_path: Path) -> None:
    path, known = tmp_path / "log", Marked()
    path.write_bytes(bytes(3 * marks.MEGABYTE))
    known.of([str(path)])
    path.write_bytes(bytes(marks.MEGABYTE) + b"x" + bytes(3 * marks.MEGABYTE))
    mark = known.of([str(path)])[str(path)]
    assert mark.size == 3 * marks.MEGABYTE
    assert describe_edit(str(path), mark) == "was edited since the run in its bytes 1,048,576 to 2,097,151"


def test_blocks_are_long_enough_for_there_to_be_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MEGABYTE", 10)
    monkeypatch.setattr(marks, "BLOCKS", 4)
    path = tmp_path / "file"
    for size, block, number in [
        (0, 10, 1),
        (1, 10, 1),
        (40, 10, 4),
        (41, 20, 3),
        (80, 20, 4),
        (81, 40, 3),
        (161, 80, 3),
    ]:
        path.write_bytes(bytes(size))
        mark = mark_of(path)
        assert (mark.block, len(mark.hashes)) == (block, number), size
        assert describe_edit(str(path), mark) == ""


@pytest.mark.parametrize("text", ["", "{", '{"query": "x"}', "[]", "null"])
def test_a_record_that_is_torn(text: str, tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(QueryError, match=r"record\.json is no record that this version reads"):
        record_in(tmp_path)


def test_a_topic_that_was_made_anew_has_another_id() -> None:
    known = {"clicks": {"web": "a", "app": "b"}}
    assert find_recreated(known, {"clicks": {"web": "a", "app": "c"}}) == ["app"]
    assert find_recreated(known, {"clicks": {}}) == find_recreated(known, {}) == [], "no broker has said so"


@pytest.mark.parametrize(
    ("form", "old", "new", "what"),
    [
        ("csv", "\n7,", "\n7.0,", "column 'id' of type BIGINT"),
        ("csv", "\n7,", "\n\n7,", "'', where the sink writes '7,"),
        ("csv", "id,miles", "miles,id", "id"),
        ("csv", "id,miles", "id,kilometres", "kilometres"),
        ("json", '"id":7,', '"id":"7",', "'id'"),
        ("json", '"id":7,', '"id":7.0,', "7.0 does not fit column 'id' of type BIGINT"),
        ("csv", "\n7,", "\n+7,", "+7 as 'id', where the sink writes 7"),
        ("json", '"miles":', '"kilometres":', "kilometres"),
    ],
)
def test_text_is_spelt_as_the_sink_writes_it(form: str, old: str, new: str, what: str, tmp_path: Path) -> None:
    query = INTO_FILES.replace("FORMAT", form).replace("delay > 200", "id < 40")
    job, home = run(query, tmp_path)
    assert told(job, home) == ()
    (part,) = [part for part in (tmp_path / "long").glob("part-*") if old in part.read_text()]
    part.write_text(part.read_text().replace(old, new, 1))
    seal(home)
    (problem,) = told(job, home)
    assert what in problem


@pytest.mark.parametrize("form", ["csv", "json"])
def test_text_ends_with_its_last_record(form: str, tmp_path: Path) -> None:
    job, home = run(INTO_FILES.replace("FORMAT", form), tmp_path)
    part = min((tmp_path / "long").glob("part-*"))
    part.write_bytes(part.read_bytes() + b"\n\n")
    seal(home)
    (problem,) = told(job, home)
    assert "has more than records from line" in problem


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize(("change", "what"), [(Path.unlink, "is gone"), (lambda path: os.truncate(path, 9), "was cut")])
def test_input_that_is_edited_amid_a_comparison_is_told(
    change: Callable[[Path], None], what: str, raises: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch job has read something else than the stream: what differs then says nothing of either."""
    job, home = run(DAYS, tmp_path)

    def compare(*arguments: object, **more: object) -> object:
        change(tmp_path / "flights.parquet")
        if raises:
            raise OuzelError("Spark: FILE_NOT_EXIST")
        return None

    monkeypatch.setattr(reconciliation, "_compare", compare)
    with pytest.raises(QueryError, match=f"the input is not what the run has read: .*flights.parquet {what}"):
        reconcile(job, home, NO_SPARK, tolerance=0.0)
