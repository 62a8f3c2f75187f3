"""Descriptions of runs are read again when, and only when, their files are others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.errors import TopologyError
from ouzel.runtime.process import job as jobs
from ouzel.tracker.topologies.watching import DescriptionReader
from tests.tracker.snapshots import make_snapshot


def test_a_description_is_read_once_until_it_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "run"
    home.mkdir()
    jobs.create_key(home)
    job = replace(make_snapshot().job, home=home)
    job.save_outline()
    reader, read = DescriptionReader(), list[str]()
    real = jobs.read_signed
    monkeypatch.setattr(jobs, "read_signed", lambda home, name: (read.append(name), real(home, name))[1])
    assert [reader.read(home).revision for _ in range(3)] == [0, 0, 0]
    assert len(read) == 1
    replace(job, revision=1).save_outline()
    assert [reader.read(home).revision for _ in range(3)] == [1, 1, 1]
    assert len(read) == 2
    (home / jobs.DESCRIPTION).unlink()
    reader.forget_gone()
    with pytest.raises(TopologyError):
        reader.read(home)
    (home / jobs.DESCRIPTION).write_bytes(b"forged" * 10)
    with pytest.raises(TopologyError):
        reader.read(home)


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    jobs.create_key(tmp_path)
    replace(make_snapshot().job, home=tmp_path).save_outline()
    reader = DescriptionReader()
    reader.read(tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()
    tmp_path.rmdir()
    reader.forget_gone()
    assert reader._known == {}
