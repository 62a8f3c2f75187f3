"""Reconciliations that are kept: the newest, whole or not at all, by many writers at once and on a full disk."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.runtime.observe import reconciled
from ouzel.runtime.observe.reconciled import KeptReconciliations, ReconciliationSummary, new_id


def summary(number: int, query: str = "words", **changes: object) -> ReconciliationSummary:
    """The one that ended at this time."""
    made = ReconciliationSummary(new_id(), query, "result", number, "they agree", True, False, 7, 0, 0)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_what_is_kept_is_read_again_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    kept = KeptReconciliations(tmp_path)
    assert kept.list_newest() == []
    one = summary(1, changed=("part-1 is gone",), is_explained=False)
    assert kept.keep(one, "<p>\udc80 first</p>")  # a name of a file that is no UTF-8
    assert (kept.list_newest(), kept.find(one.id), kept.read_report(one.id)) == ([one], one, "<p>? first</p>")
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.folder.iterdir()} == {0o600}
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700


def test_a_watch_keeps_one_that_changes(tmp_path: Path) -> None:
    kept, one = KeptReconciliations(tmp_path), summary(1, rounds=1)
    kept.keep(one, "one round")
    later = replace(one, at_us=2, rounds=2)
    kept.keep(later, "two rounds")
    assert (kept.list_newest(), kept.read_report(one.id)) == ([later], "two rounds")


def test_the_newest_stay_and_what_is_damaged_ages_as_the_others_do(tmp_path: Path) -> None:
    kept = KeptReconciliations(tmp_path, most=3)
    damaged = summary(0)
    kept.keep(damaged, "")
    (kept.folder / f"{damaged.id}.json").write_text("{")
    (kept.folder / "notes.txt").write_text("of somebody else")
    made = [summary(number, f"q{number % 2}") for number in range(1, 6)]
    for one in made[:2]:
        kept.keep(one, "")
    assert [each.at_us for each in kept.list_newest()] == [2, 1]
    for number, one in enumerate(made[2:]):
        for path in kept.folder.iterdir():
            os.utime(
                path, ns=(number, path.stat().st_mtime_ns - 10**9)
            )  # so that each write is later, however coarse its clock
        kept.keep(one, "")
    assert [each.at_us for each in kept.list_newest()] == [5, 4, 3]
    assert [each.at_us for each in kept.list_newest({"q1"})] == [5, 3]
    assert sorted(path.name for path in kept.folder.iterdir() if damaged.id in path.name) == []
    assert len(list(kept.folder.iterdir())) == 2 * 3 + 1


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "..", f"{10**15:016d}-1-0123456G", "/etc/passwd"])
def test_what_is_no_id_leads_nowhere(tmp_path: Path, name: str) -> None:
    kept = KeptReconciliations(tmp_path)
    kept.keep(summary(1), "")
    assert (kept.find(name), kept.read_report(name)) == (None, None)


def test_a_report_that_is_too_large_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, one = KeptReconciliations(tmp_path), summary(1, rounds=1)
    assert kept.keep(one, "small")
    monkeypatch.setattr(reconciled, "REPORT_BYTES_MAX", 5)
    assert not kept.keep(one, "too large")
    assert (kept.list_newest(), kept.read_report(one.id)) == ([one], None)


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize("is_again", [False, True])
def test_on_a_full_disk_what_was_kept_stays_and_nothing_half_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, *, is_again: bool
) -> None:
    kept, other, one = KeptReconciliations(tmp_path), summary(1), summary(2)
    for each in (other, one) if is_again else (other,):
        kept.keep(each, "before")
    before = sorted(path.name for path in kept.folder.iterdir())
    written, count = Path.write_bytes, iter(range(1, 9))

    def write(path: Path, data: bytes) -> int:
        if next(count) == failing:
            written(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written(path, data)

    monkeypatch.setattr(Path, "write_bytes", write)
    with pytest.raises(OSError, match="No space left"):
        kept.keep(replace(one, at_us=3), "after")
    assert sorted(path.name for path in kept.folder.iterdir()) == before
    assert kept.list_newest() == ([one, other] if is_again else [other])


WRITER = """
import sys
from pathlib import Path
from ouzel.runtime.observe.reconciled import KeptReconciliations, ReconciliationSummary, new_id
kept = KeptReconciliations(Path(sys.argv[1]), most=5)
for number in range(60):
    kept.keep(ReconciliationSummary(new_id(), "q", "t", number, "", True, False, 0, 0, 0), "a report")
"""


def test_many_write_at_once_and_as_many_stay_as_should(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(3)]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    kept = KeptReconciliations(tmp_path, most=5)
    kept.keep(summary(99), "the last")
    assert len(kept.list_newest()) == 5
    assert len(list(kept.folder.iterdir())) == 10
