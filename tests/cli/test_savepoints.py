"""Savepoints of topologies that run: the page's transcript, runs that go on from one to the end, and what is refused or fails."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ouzel
from ouzel.runtime.cluster.submitted import saving
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition
from tests.cli.test_submitted import Place, place
from tests.servers.waiting import wait_until

__all__ = ["place"]
pytestmark = pytest.mark.server

PAGE = Path(__file__).parents[2] / "docs/operations.md"
SECTION = PAGE.read_text().partition("### Savepoints")[2].partition("\n### ")[0]
TRANSCRIPT = re.findall(r"^\$ ouzel (.*)\n((?:(?!\$ |```).*\n)*)", SECTION, re.MULTILINE)

TABLE = "CREATE TABLE lines (word VARCHAR) WITH ('connector' = 'file', 'path' = 'lines.jsonl', 'format' = 'json', 'follow' = 'true');\n"
COUNT = f"{TABLE}SELECT word, COUNT(*) AS n FROM lines GROUP BY word EMIT CHANGES;\n"
ROWS = 6_000
VISITS = f"""
CREATE TABLE clicks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'rate' = '300', 'partitions' = '2', 'fields.n.kind' = 'sequence',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2026-01-01 00:00:00', 'fields.ts.step' = '10');
"""
WINDOWS = f"""{VISITS}SELECT window_end, n % 4 AS page, COUNT(*) AS visits, SUM(n) AS total
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, n % 4;
"""
RUNNING = f"{VISITS}SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM clicks GROUP BY n % 7 EMIT CHANGES;\n"


def write(place: Place, text: str, name: str = "counted.sql") -> Path:
    """A file of SQL."""
    path = place.root / name
    path.write_text(text)
    return path


def add(place: Place, *words: str) -> None:
    """More words come to the file."""
    with place.lines.open("a") as file:
        file.writelines(json.dumps({"word": word}) + "\n" for word in words)


def counts(place: Place, name: str) -> dict[str, int]:
    """What a topology has counted."""
    return {row["word"]: row["n"] for row in place.rows(name)}


def without_numbers(text: str) -> list[str]:
    """Lines as they are printed, whatever their numbers."""
    return [re.sub(r"\d[\d,]*", "N", " ".join(line.split())) for line in text.splitlines()]


def test_the_transcript_of_the_page_is_what_is_printed_and_every_word_is_counted_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(TRANSCRIPT) == 7
    monkeypatch.chdir(place.root)
    write(place, COUNT)
    write(place, COUNT.replace(" GROUP", " WHERE word <> 'word0' GROUP"), "filtered.sql")
    add(place, "word0", "word1", "word1")
    for command, printed in TRANSCRIPT:
        arguments = shlex.split(command)
        result = place.ask(*arguments)
        said = [
            line for line in (result.stdout + result.stderr).splitlines() if not line.startswith(("`ouzel", "warning"))
        ]
        assert sorted(without_numbers("\n".join(said))) == sorted(without_numbers(printed)), result.output
        assert result.exit_code == (2 if "error: " in printed else 0), result.output
        if command == "submit counted.sql":
            wait_until(lambda: counts(place, "counted") == {"word0": 1, "word1": 2})
    add(place, "word1", "word2")
    for name in ("again", "counted"):
        wait_until(lambda name=name: counts(place, name) == {"word0": 1, "word1": 3, "word2": 1})


def expected(text: str) -> list[tuple[Any, ...]]:
    """DuckDB's answer of all rows; the numbers of both partitions go one after the other."""
    with duckdb.connect() as connection:
        ts = "TIMESTAMP '2026-01-01 00:00:00' + n * INTERVAL 10 MILLISECOND AS ts"
        connection.execute(f"CREATE TABLE clicks AS SELECT n, {ts} FROM range({ROWS}) AS r(n)")
        return sorted(connection.execute(text).fetchall())


IN_WINDOWS = """
SELECT time_bucket(INTERVAL 5 SECOND, ts) + INTERVAL 5 SECOND, n % 4, count(*), sum(n)::BIGINT FROM clicks GROUP BY ALL"""
ANSWERS = {
    "windows": (WINDOWS, IN_WINDOWS),
    "running": (RUNNING, "SELECT n % 7, count(*), sum(n)::BIGINT FROM clicks GROUP BY ALL"),
}


def rows_of(text: str) -> list[tuple[Any, ...]]:
    """A printed result."""
    return sorted(tuple(json.loads(line).values()) for line in text.splitlines())


@pytest.fixture
def stopped(place: Place, request: pytest.FixtureRequest) -> tuple[Path, str]:
    """A query over a bounded table, of which a savepoint was made in the midst of its rows; and DuckDB's answer."""
    query, oracle = ANSWERS[request.param]
    file = write(place, query, "asked.sql")
    place.told("submit", file)
    with ouzel.attach("asked") as handle:
        wait_until(lambda: handle.status().rows_in > ROWS // 10)
    place.told("stop", "asked", "--savepoint", place.root / "monday")
    return file, oracle


def plain(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Times as they are printed."""
    return sorted(tuple(one.isoformat() if hasattr(one, "isoformat") else one for one in row) for row in rows)


@pytest.mark.parametrize("stopped", ANSWERS, indirect=True)
def test_runs_go_on_to_the_end_as_if_nothing_had_been_as_often_as_they_are_started(
    place: Place, stopped: tuple[Path, str]
) -> None:
    file, oracle = stopped
    before = {path: path.stat().st_mtime_ns for path in (place.root / "monday").rglob("*")}
    for more in ((), ("--parallelism", "3")):
        ran = place.ask("run", "--from", place.root / "monday", file, "--format", "jsonl", *more)
        assert ran.exit_code == 0, ran.output
        assert "no state is lost" in ran.stderr
        assert rows_of(ran.stdout) == plain(expected(oracle))
    place.told("submit", "--from", place.root / "monday", file, "--name", "again")
    place.kill_all("again")
    place.told("start", "again")
    wait_until(lambda: place.condition("again") is Condition.FINISHED)
    assert sorted(tuple(row.values()) for row in place.rows("again")) == plain(expected(oracle))
    assert {path: path.stat().st_mtime_ns for path in (place.root / "monday").rglob("*")} == before


def refused(place: Place, *arguments: object, code: int = 2) -> str:
    """What a command says that must be refused."""
    result = place.ask(*arguments)
    assert result.exit_code == code, result.output
    return " ".join(result.stderr.split())


@pytest.mark.parametrize("stopped", ["running"], indirect=True)
def test_what_does_not_fit_or_is_damaged_is_told_and_nothing_starts(place: Place, stopped: tuple[Path, str]) -> None:
    file, monday = stopped[0], place.root / "monday"
    foreign = write(place, f"{TABLE}SELECT word FROM lines;", "foreign.sql")
    other = write(place, RUNNING.replace(" GROUP", " WHERE n > 5 GROUP"), "other.sql")
    elsewhere = place.root / "tmp/asked.sql"
    shutil.copy(file, elsewhere)
    cases = {
        ("--from", place.root / "tmp", file): (1, "is no savepoint; write what `ouzel stop NAME --savepoint` has made"),
        ("--from", monday, foreign): (2, "the query reads no table that topology 'asked' read"),
        ("--from", monday, other): (2, "for the state of 'aggregate_by_key' would be lost; add --allow-state-loss"),
        ("--from", monday, elsewhere): (2, "paths of the query start in"),
        ("--from", monday, file, "--set", "checkpoint.interval.ms=0"): (2, "keeps no epochs in which it could go on from a savepoint"),
        (file, "--allow-state-loss"): (2, "write --from DIR"),
    }  # fmt: skip
    for arguments, (code, told) in cases.items():
        for verb in (("run",), ("submit", "--name", "again")):
            assert told in refused(place, *verb, *arguments, code=code), arguments
    (place.home / "key").rename(place.home / "mine")
    assert "was not written below this OUZEL_HOME" in refused(place, "run", "--from", monday, file, code=1)
    (place.home / "mine").rename(place.home / "key")
    for path in [*sorted((monday / "tasks").iterdir()), monday / "program", *monday.glob("epochs/*")]:
        content = path.read_bytes()
        path.unlink()
        told = "monday holds no epoch" if path.parent.name == "epochs" else path.name
        assert told in refused(place, "submit", "--name", "again", "--from", monday, file, code=1)
        path.write_bytes(content[:-1])
        assert str(path) in refused(place, "run", "--from", monday, file, code=1)
        path.write_bytes(content)
    assert Registry(place.home).names() == ["asked"]
    ran = place.ask("run", "--from", monday, other, "--allow-state-loss", "--format", "jsonl")
    assert ran.exit_code == 0, ran.output
    assert "the state of 1 operator is lost" in ran.stderr


@pytest.fixture
def small_disk(place: Place) -> Iterator[Path]:
    """A folder on a file system of 64 KiB."""
    folder = place.root / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_where_there_is_no_room_there_is_no_savepoint_and_the_topology_goes_on(place: Place, small_disk: Path) -> None:
    add(place, "word0", "word1", "word1")
    place.told("submit", write(place, COUNT))
    wait_until(lambda: counts(place, "counted") == {"word0": 1, "word1": 2})
    (small_disk / "filler").write_bytes(b"x" * 60_000)
    told = refused(place, "stop", "counted", "--savepoint", small_disk / "monday", code=1)
    assert "topology 'counted' is stopped, and there is no savepoint of it: " in told
    assert "No space left on device" in told
    assert [path.name for path in small_disk.iterdir()] == ["filler"]
    assert place.condition("counted") is Condition.STOPPED
    holds = refused(place, "stop", "counted", "--savepoint", small_disk)
    assert f"{small_disk} holds something else; write a folder that is not there yet" in holds
    place.told("stop", "counted", "--savepoint", place.root / "monday")
    add(place, "word1", "word2")
    place.told("start", "counted")
    wait_until(lambda: counts(place, "counted") == {"word0": 1, "word1": 3, "word2": 1})
    place.told("kill", "counted")
    with ouzel.submit(place.root / "counted.sql", "tuesday", from_=place.root / "monday"):
        wait_until(lambda: counts(place, "tuesday") == {"word0": 1, "word1": 3, "word2": 1})


def test_what_was_counted_before_a_savepoint_is_counted_after_it(place: Place) -> None:
    place.append(1, 2, 3)
    place.told("submit", place.root / "counted.sql")
    told = place.told("stop", "counted", "--savepoint", place.root / "monday")
    assert re.fullmatch(
        rf"stopped 'counted', savepoint of epoch \d+ in {place.root}/monday: \d+ files, [\d,]+ bytes\n", told
    )
    place.append(5)
    place.told("submit", "--from", place.root / "monday", place.root / "counted.sql", "--name", "again")
    wait_until(lambda: {row["odd"]: row["seen"] for row in place.rows("again")} == {0: 1, 1: 3})


def test_a_paused_topology_can_be_saved_and_one_without_epochs_cannot(place: Place) -> None:
    place.append(1, 2, 3)
    place.told("submit", place.root / "counted.sql")
    wait_until(lambda: sum(row["seen"] for row in place.rows("counted")) == 3)
    place.told("pause", "counted")
    place.append(5)
    place.told("stop", "counted", "--savepoint", place.root / "monday")
    place.told("submit", "--from", place.root / "monday", place.root / "counted.sql", "--name", "again")
    wait_until(lambda: {row["odd"]: row["seen"] for row in place.rows("again")} == {0: 1, 1: 3})
    place.told("submit", place.root / "counted.sql", "--name", "none", "--set", "checkpoint.interval.ms=0")
    told = refused(place, "stop", "none", "--savepoint", place.root / "tuesday")
    assert "topology 'none' keeps no epochs that a savepoint could be made of" in told
    assert place.condition("none") is Condition.RUNNING


def test_a_command_that_dies_before_the_savepoint_is_written_can_be_written_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.append(1, 2, 3)
    place.told("submit", place.root / "counted.sql")
    wait_until(lambda: sum(row["seen"] for row in place.rows("counted")) == 3)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(saving, "write_results", die)
        assert place.ask("stop", "counted", "--savepoint", place.root / "monday").exit_code == 130
    assert not list(place.root.glob("*monday*"))
    place.told("stop", "counted", "--savepoint", place.root / "monday")
    place.append(5)
    place.told("submit", "--from", place.root / "monday", place.root / "counted.sql", "--name", "again")
    wait_until(lambda: {row["odd"]: row["seen"] for row in place.rows("again")} == {0: 1, 1: 3})
