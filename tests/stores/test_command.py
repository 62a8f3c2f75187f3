"""`ouzel batch --advance` says what it did, and where the stream has other sums; a topology in memory stands in for Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ouzel
from ouzel.cli import advance
from ouzel.cli.main import app
from tests.stores.test_hybrid import QUERY, in_memory, write_flights


def test_a_store_rolled_forward_by_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(planned: Any, master: str | None, conf: list[tuple[str, str]]) -> None:
        planned.run(in_memory)

    def command(*arguments: str) -> tuple[int, str]:
        found = CliRunner().invoke(app, ["batch", "sums.sql", *arguments])
        return found.exit_code, found.output

    monkeypatch.setattr(advance, "_run", run)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.sql").write_text(QUERY)
    write_flights(tmp_path)
    ouzel.run(ouzel.query(QUERY, tmp_path), "memory")
    write_flights(tmp_path, step=2)
    first = ("--advance", "store", "--batcher", "1 day", "--from", "2013-01-01", "--to", "2013-01-03")
    code, told = command(*first)
    assert code == 3
    assert (
        "store holds all up to 2013-01-03 00:00:00: 2 batches from 2013-01-01 00:00:00 to 2013-01-03 00:00:00 computed.\n"
        in told
    )
    assert "The stream has other sums; 3 differ:\n  2013-01-02 00:00:00 " in told
    assert "If the batch is the wrong one, compute it again with --from and --to.\n" in told
    write_flights(tmp_path)
    code, told = command("--advance", "store", "--from", "2013-01-02", "--to", "2013-01-03")
    assert (code, told.splitlines()[-1]) == (0, "The stream's sums of what it has of these batches are the same.")
    code, told = command("--advance", "store", "--to", "2013-01-03T23:00:00")
    assert (code, told) == (0, "store is up to 2013-01-03 00:00:00; its next batch is over at 2013-01-04 00:00:00.\n")
    assert (
        "--output and --advance exclude each other; leave out --output"
        in command("--advance", "store", "--output", "x")[1]
    )
    assert "--batcher says how a store cuts time; add --advance STORE" in command("--batcher", "1 day")[1]
