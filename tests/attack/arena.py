"""Where an attack takes place: a directory, a run of `ouzel` as a user starts it, its processes, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import duckdb
import polars as pl

from tests.servers.waiting import is_reached
from tests.servers.warm import ForkedCommand, WarmServers

OUZEL = Path(sys.executable).with_name("ouzel")

LIMIT_S = 200
"""No attack's run lasts longer: whatever still runs then hangs."""


class Breach(AssertionError):
    """The topology gave a wrong answer, hung, or said nothing of what went wrong."""


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code and what it printed."""

    code: int
    out: str
    err: str


@dataclass
class Run:
    """One `ouzel run`: a process of its own with all that descends from it."""

    process: subprocess.Popen[bytes] | ForkedCommand
    out: Path
    err: Path
    deadline: float = field(default_factory=lambda: time.monotonic() + LIMIT_S)

    def wait_until(self, reached: Callable[[], bool], what: str) -> bool:
        """Whether it was reached before the run ended.

        Raises:
            Breach: neither came within the time limit.
        """
        came = list[bool]()

        def look() -> bool:
            came[:] = [bool(reached())]
            return came[0] or self.process.poll() is not None

        if not is_reached(look, max(0.0, self.deadline - time.monotonic())):
            raise Breach(f"no {what} within {LIMIT_S} s\n{self.err.read_text()}")
        return came[0]

    def descendants(self, name: str) -> list[int]:
        """Process ids below this run whose name begins so."""
        return [pid for pid, comm in _below(self.process.pid) if comm.startswith(name[:15])]

    def send(self, number: signal.Signals, name: str, random: Random) -> str:
        """Send a signal to one process of that name, if there is one; what was done, in words."""
        victims = self.descendants(name)
        if not victims or self.process.poll() is not None:
            return ""
        victim = random.choice(victims)
        try:
            os.kill(victim, number)
        except ProcessLookupError:
            return ""
        return f"{number.name} {name} {victim}"

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Ask the run to stop, as a user does."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self) -> Ended:
        """Wait for the end.

        Raises:
            Breach: it did not come within the time limit.
        """
        try:
            code = self.process.wait(max(0.1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Breach(f"hangs after {LIMIT_S} s\n{self.err.read_text()}") from None
        return Ended(code, self.out.read_text(), self.err.read_text())

    def answered(self) -> Ended:
        """Wait for the end, which has to be a good one.

        Raises:
            Breach: the exit code is not 0.
        """
        ended = self.end()
        if ended.code:
            raise Breach(f"exit code {ended.code}\n{ended.err}")
        return ended


@dataclass
class Arena:
    """One attack's directory and its choices at random; `log` tells what was done, in order."""

    directory: Path
    random: Random
    log: list[str] = field(default_factory=list)

    @contextmanager
    def run(
        self,
        query: str,
        *options: str,
        environment: Mapping[str, str] | None = None,
        stdout: int | None = None,
        fresh: bool = False,
    ) -> Iterator[Run]:
        """Start `ouzel run` on the query, in the arena's directory, with temporary files of its own; ended in any case.

        In tests it is forked from a process that is warm, unless it has to be `fresh`.
        """
        (self.directory / "query.sql").write_text(query)
        temporary = self.directory / "tmp"
        temporary.mkdir(exist_ok=True)
        out, err = self.directory / "stdout", self.directory / "stderr"
        with out.open("wb") as to_out, err.open("wb") as to_err:
            outputs = (to_out.fileno() if stdout is None else stdout, to_err.fileno())
            given = {**os.environ, "TMPDIR": str(temporary), "NO_COLOR": "1", **(environment or {})}
            process = _start(["run", "query.sql", *options], given, self.directory, outputs, fresh)
        try:
            yield Run(process, out, err)
        finally:
            _end_all(process)

    def do(self, deed: str) -> None:
        """Note what was done; nothing if it is empty."""
        if deed:
            self.log.append(deed)

    def parts(self) -> int:
        """How many parts the table `answer` has so far."""
        return sum(1 for _ in (self.directory / "answer").glob("part-*"))

    def answer(self) -> pl.DataFrame:
        """The table `answer`, as its parts hold it."""
        return pl.read_parquet(str(self.directory / "answer" / "part-*"))

    def expect(self, truth: str) -> None:
        """The table `answer` holds exactly the rows that DuckDB gives for `truth`.

        Raises:
            Breach: it lacks rows, or has some that are too many.
        """
        here = self.answer()
        with duckdb.connect() as database:
            database.execute(f"SET file_search_path = '{self.directory}'")
            database.register("here", here.to_arrow())
            database.execute(f"CREATE TABLE truth AS {truth}")
            missing = database.execute("SELECT * FROM truth EXCEPT ALL SELECT * FROM here").fetchall()
            extra = database.execute("SELECT * FROM here EXCEPT ALL SELECT * FROM truth").fetchall()
        if missing or extra:
            raise Breach(f"{len(missing):,} rows missing {missing[:3]}, {len(extra):,} too many {extra[:3]}")


def _start(
    arguments: list[str], environment: Mapping[str, str], folder: Path, outputs: tuple[int, int], fresh: bool
) -> subprocess.Popen[bytes] | ForkedCommand:
    if WarmServers.running is not None and not fresh:
        return WarmServers.running.command(arguments, environment, folder, outputs)
    return subprocess.Popen(
        [OUZEL, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=outputs[0],
        stderr=outputs[1],
        preexec_fn=_heed_hangups,
    )


def _heed_hangups() -> None:
    """Undo what `nohup` does to its children: a run is told to end by SIGHUP too."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def seeded(name: str, seed: int) -> Random:
    """The choices of one attack under a seed."""
    return Random(f"{name} {seed}")


def resident_mb(pid: int) -> float:
    """Memory of a process, in megabytes; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


def _below(ancestor: int) -> list[tuple[int, str]]:
    """Ids and names of the processes that descend from one."""
    parents, names = {}, {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            text = (directory / "stat").read_text(errors="replace")
        except OSError:
            continue
        pid = int(directory.name)
        names[pid] = text[text.index("(") + 1 : text.rindex(")")]
        parents[pid] = int(text.rpartition(")")[2].split()[1])
    return [(pid, name) for pid, name in names.items() if _descends(pid, ancestor, parents)]


def _descends(pid: int, ancestor: int, parents: Mapping[int, int]) -> bool:
    while pid > 1:
        pid = parents.get(pid, 0)
        if pid == ancestor:
            return True
    return False


def _end_all(process: subprocess.Popen[bytes] | ForkedCommand) -> None:
    """Kill what is left of a run: nothing of it may outlive its attack."""
    left = [pid for pid, _ in _below(process.pid)]
    for pid in [process.pid, *left] if process.poll() is None else left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()
