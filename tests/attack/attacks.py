"""The attacks, one function each: they do harm from a seed and know what the answer has to be all the same."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import polars as pl

from tests.attack.arena import Arena, Breach, Run, resident_mb
from tests.servers.waiting import growth

Attack = Callable[[Arena], None]
"""Raises Breach when the topology did not hold."""

STATELESS = ("instance-1", "stream-manager", "metrics-manager", "executor-", "topology-master")
"""What may die at any time without a change of the answer; instance-1 is the first task of the source."""

TWO_OF_ALL = ("--set", "parallelism=2", "--set", "containers=2")

ANSWER = "WITH ('connector' = 'file', 'path' = 'answer', 'format' = 'parquet');"

NOTES = 150_000

NOTED = f"""
CREATE TABLE notes (id BIGINT, note VARCHAR) WITH ('connector' = 'file', 'path' = 'notes.csv', 'format' = 'csv');
CREATE TABLE answer (id BIGINT, size INT) {ANSWER}
INSERT INTO answer SELECT id, LENGTH(note) FROM notes;
"""

GROUPS, PER_SECOND = 50, 20_000

TICKS = """
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{rows}', 'rate' = '{rate}', 'partitions' = '1', 'fields.n.kind' = 'sequence',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2024-01-01 00:00:00', 'fields.ts.step' = '1');
"""

WINDOWS = (
    TICKS
    + f"""
CREATE TABLE answer (at TIMESTAMP(3), k BIGINT, many BIGINT, total BIGINT) {ANSWER}
INSERT INTO answer
SELECT window_start, n % {GROUPS}, COUNT(*), SUM(n)
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '0.1' SECOND)) GROUP BY window_start, window_end, n % {GROUPS};
"""
)

WINDOWS_TRUTH = f"""
SELECT time_bucket(INTERVAL 100 MILLISECOND, TIMESTAMP '2024-01-01' + INTERVAL 1 MILLISECOND * n) AS at, n % {GROUPS} AS k,
  COUNT(*) AS many, SUM(n)::BIGINT AS total FROM range({{rows}}) AS ticks (n) GROUP BY 1, 2
"""


def kill_where_offsets_are_sparse(arena: Arena) -> None:
    """Kill a source twice and a stream manager over a CSV in which every third record has a line break inside quotes."""
    lines = (f'{n},"two\nlines {n}"' if n % 3 == 0 else f"{n},one {n}" for n in range(NOTES))
    (arena.directory / "notes.csv").write_text("id,note\n" + "\n".join(lines) + "\n")
    with arena.run(NOTED, *TWO_OF_ALL, "--set", "batch.rows=100", "--set", "max.pending.rows=2000") as run:
        _harm(arena, run, signal.SIGKILL, ("instance-1", "instance-1", "stream-manager"))
        run.answered()
    arena.expect("SELECT id, LENGTH(note)::INT AS size FROM read_csv('notes.csv', header = true)")


def kill_under_windows(arena: Arena) -> None:
    """Kill whatever holds no counts while windows open and close."""
    _windows(arena, signal.SIGKILL)


def stall_under_windows(arena: Arena) -> None:
    """Stop processes for a while, some for longer than a process may be silent, and let them go on."""
    _windows(arena, signal.SIGSTOP)


def _windows(arena: Arena, number: signal.Signals) -> None:
    rows = PER_SECOND * 5
    with arena.run(WINDOWS.format(rows=rows, rate=PER_SECOND), *TWO_OF_ALL, "--set", "batch.rows=500") as run:
        _harm(arena, run, number, arena.random.choices(STATELESS, k=3))
        run.answered()
    arena.expect(WINDOWS_TRUTH.format(rows=rows))


def _harm(arena: Arena, run: Run, number: signal.Signals, victims: Sequence[str]) -> None:
    """Send a signal to one process of each name while rows flow; who was stopped goes on after a while."""
    run.wait_until(lambda: arena.parts() > 0, "part")
    for victim in victims:
        time.sleep(arena.random.uniform(0.1, 0.8))
        deed = run.send(number, victim, arena.random)
        arena.do(deed)
        if number is signal.SIGSTOP and deed:
            time.sleep(arena.random.choice((0.2, 1.0, 12.0)))
            _go_on(int(deed.split()[-1]))


def _go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return  # it was taken for hung, and started again


def stop_between_windows(arena: Arena) -> None:
    """Ctrl-C under load: a window that was answered at all has all its groups, with all their rows."""
    with arena.run(WINDOWS.format(rows=10**9, rate=PER_SECOND), *TWO_OF_ALL, "--set", "batch.rows=1000") as run:
        run.wait_until(lambda: arena.parts() > 1, "part")
        time.sleep(arena.random.uniform(0.2, 3))
        run.stop(arena.random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
        run.end()
    windows = arena.answer().group_by("at").agg(pl.len().alias("groups"), pl.col("many").sum())
    torn = windows.filter((pl.col("groups") != GROUPS) | (pl.col("many") != 100))
    if torn.height:
        raise Breach(f"{torn.height} of {windows.height} windows are torn: {torn.sort('at').head(3).rows()}")


FILES, FOLDER = 1_000, "many-" + 240 * "x"
"""What is told of all of them is more than a message may hold."""


def read_many_files_of_which_the_last_is_bad(arena: Arena) -> None:
    """A failure in the last of a thousand files ends the run with its place."""
    folder = arena.directory / FOLDER
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:05}.csv").write_text("id\n" + ("x" if number == FILES - 1 else str(number)) + "\n")
    query = f"CREATE TABLE many (id BIGINT) WITH ('connector' = 'file', 'path' = '{FOLDER}/*.csv', 'format' = 'csv');\n"
    with arena.run(query + "SELECT COUNT(*) AS n FROM many;") as run:
        ended = run.end()
    if not ended.code or f"{FILES - 1:05}.csv" not in ended.err:
        raise Breach(f"exit code {ended.code}, and the bad file is not named:\n{ended.err}")


def fill_the_temporary_disk(arena: Arena) -> None:
    """No space left for journals and logs: the run ends with a message, or answers; it never doubles and never hangs."""
    rows = PER_SECOND * 5
    with small_disk(arena) as full, arena.run(WINDOWS.format(rows=rows, rate=PER_SECOND), *TWO_OF_ALL) as run:
        run.wait_until(lambda: arena.parts() > 0, "part")
        arena.do(f"filled with {full()} bytes")
        ended = run.end()
    if ended.code == 0:
        arena.expect(WINDOWS_TRUTH.format(rows=rows))
    elif "space" not in ended.err:
        raise Breach(f"exit code {ended.code}, and nothing says that the disk is full:\n{ended.err}")


@contextmanager
def small_disk(arena: Arena) -> Iterator[Callable[[], int]]:
    """The run's temporary directory on a file system of 24 MB; call what is given to fill it.

    Raises:
        PermissionError: this user may not mount one.
    """
    temporary = arena.directory / "tmp"
    temporary.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(temporary)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        raise PermissionError("only root may mount a small disk")

    def fill() -> int:
        written = 0
        with (temporary / "filler").open("wb", buffering=0) as file:
            for block in (1 << 16, 1 << 10, 1):
                try:
                    while True:
                        written += file.write(b"x" * block)
                except OSError:
                    continue
        return written

    try:
        yield fill
    finally:
        subprocess.run(["umount", "-l", str(temporary)], check=True)


def leave_the_pipe_unread(arena: Arena) -> None:
    """A reader that stops reading slows the topology down; the client's memory stays flat, nothing is replayed, and a signal ends it."""
    query = TICKS.format(rows=10**9, rate=200_000) + "SELECT n, REPEAT('x', 100) AS filler FROM ticks;"
    reading, writing = os.pipe()
    try:
        with arena.run(query, "--format", "csv", "--set", "ack.timeout.ms=2000", stdout=writing) as run:
            run.wait_until(lambda: _waiting_bytes(reading) >= _PIPE_BYTES, "full pipe")
            run.wait_until(lambda: _grown_mb(run, 4) < _STEADY_MB, "end of its growth")
            grown = _grown_mb(run, 4)
            arena.do(f"client {resident_mb(run.process.pid):.0f} MB, {grown:.0f} MB more than 4 s ago")
            run.stop(signal.SIGTERM)
            ended = run.end()
    finally:
        os.close(reading)
        os.close(writing)
    if "replayed" in ended.err:
        raise Breach(f"rows are sent again because nobody reads:\n{ended.err}")
    if grown > _STEADY_MB:
        raise Breach(f"the client grows while nobody reads, by {grown:.0f} MB in 4 s")


_PIPE_BYTES = 60_000
"""A pipe that holds so much is full: it takes 65,536, and a row is of about a hundred."""

_STEADY_MB = 20
"""Rows that gather do so by 20 MB a second."""


def _waiting_bytes(pipe: int) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def _grown_mb(run: Run, seconds: float) -> float:
    return growth(lambda: resident_mb(run.process.pid), seconds)


SHADOWED = ("json", "grpc", "polars", "numba", "secrets", "pickle", "site", "ouzel")


def put_modules_beside_the_data(arena: Arena) -> None:
    """Python files in the working directory that are named as modules are data, and never run."""
    for name in SHADOWED:
        (arena.directory / f"{name}.py").write_text(f"open('ran-{name}', 'w').close()\nraise SystemExit(77)\n")
    rows = 1_000
    with arena.run(WINDOWS.format(rows=rows, rate=PER_SECOND), fresh=True) as run:
        ended = run.end()
    ran = sorted(path.name for path in arena.directory.glob("ran-*"))
    if ran or ended.code:
        raise Breach(f"exit code {ended.code}, run were {ran}\n{ended.err}")
    arena.expect(WINDOWS_TRUTH.format(rows=rows))


def send_rubbish_to_every_socket(arena: Arena) -> None:
    """Bytes that are no frame, and frames that claim to be huge, end their connection and nothing else."""
    rows = PER_SECOND * 5
    with arena.run(WINDOWS.format(rows=rows, rate=PER_SECOND), *TWO_OF_ALL) as run:
        run.wait_until(lambda: arena.parts() > 0, "part")
        for path in sorted((arena.directory / "tmp").rglob("*")):
            if path.is_socket():
                arena.do(_rubbish(arena, str(path)))
        ended = run.answered()
    if " restart" in ended.err:
        raise Breach(f"a process died of it:\n{ended.err}")
    arena.expect(WINDOWS_TRUTH.format(rows=rows))


def _rubbish(arena: Arena, path: str) -> str:
    claims = (arena.random.randbytes(64), b"\x00" * 64, (250 << 20).to_bytes(4, "little") + b"\x01", b"\xff" * 4096)
    sent = 0
    for claim in claims:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            try:
                connection.connect(path)
                connection.sendall(claim)
                sent += len(claim)
            except OSError:
                continue
    return f"{sent} bytes to {re.sub(r'.*/', '', path)}"


ATTACKS: dict[str, Attack] = {
    "sparse": kill_where_offsets_are_sparse,
    "kills": kill_under_windows,
    "stalls": stall_under_windows,
    "stops": stop_between_windows,
    "files": read_many_files_of_which_the_last_is_bad,
    "disk": fill_the_temporary_disk,
    "pipe": leave_the_pipe_unread,
    "shadows": put_modules_beside_the_data,
    "rubbish": send_rubbish_to_every_socket,
}
