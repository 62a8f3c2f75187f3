"""The record of a running topology, taken at any time: requests to the process that runs it, over a Unix socket.

`live.json` in the record's directory names the socket, which lies in a directory of its own that only its owner can enter. A request is a
line of JSON, `{"do": "snapshot"}`, `{"do": "status"}`, `{"do": "pause", "timeout_s": 60}` or `{"do": "resume"}`; its answer is a line too,
`{}` (with the status, if that was asked) or `{"refused": "why"}`. A pause lasts as long as its connection at most, so that one whose reader
dies is over.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Thread
from typing import Any, Protocol

from ouzel.connectors.backlog import Backlog
from ouzel.errors import OuzelError, TopologyError
from ouzel.reconcile.recording.record import LIVE, RunRecord, read_record, replace_file
from ouzel.runtime.process.job import check_room, hold, remove_home
from ouzel.runtime.protocol.messages import Waiting
from ouzel.runtime.run import RunState, Status

PAUSE_SECONDS = 60.0
"""How long a topology may take to come to rest; then the pause is given up."""

_ANSWER_SECONDS = 90.0
"""The longest wait for an answer, beyond the time that a pause is given."""

_CONNECT_SECONDS = 5.0


class Recorded(Protocol):
    """A run whose record can be taken: a recorder.Recorder."""

    def snapshot(self) -> RunRecord:
        """Write the record as the run stands."""

    def status(self) -> Status:
        """The status of the run."""

    def pause(self, timeout_s: float) -> object:
        """Have the run come to rest."""

    def resume(self) -> None:
        """Have it go on."""


class LiveRecord:
    """The run's side: answers requests, each reader in a thread of its own, until it is closed."""

    def __init__(self, run: Recorded, home: Path) -> None:
        check_room(Path(tempfile.gettempdir()))
        self._path = home / LIVE
        self._directory = Path(tempfile.mkdtemp(prefix="ouzel-live-"))  # mode 0700
        hold(self._directory)  # a later run removes it if this one is killed
        self._server = _Server(str(self._directory / "socket"), _Reader)
        self._server.run = run
        Thread(target=self._server.serve_forever, args=(0.05,), name="live record", daemon=True).start()
        home.mkdir(0o700, parents=True, exist_ok=True)
        replace_file(self._path, lambda path: path.write_text(json.dumps({"socket": self._server.server_address})))

    def close(self) -> None:
        """The run has ended: its record is not live any more. Harmless when it was closed before."""
        if self._directory.exists():
            with contextlib.suppress(OSError):  # the directory of the record may be gone, or be none any more
                self._path.unlink()
            remove_home(self._directory)
            self._server.shutdown()
            self._server.server_close()


class _Server(ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False
    run: Recorded


class _Reader(StreamRequestHandler):
    """One connected reader, served until it disconnects."""

    server: _Server

    def handle(self) -> None:
        self.paused = False
        try:
            with contextlib.suppress(OSError):
                for line in self.rfile:
                    self.wfile.write(json.dumps(self._answer(line)).encode() + b"\n")
        finally:
            self._resume()

    def _answer(self, line: bytes) -> dict[str, object]:
        try:
            return self._carry_out(line) or {}
        except OuzelError as error:
            return {"refused": str(error)}
        except OSError as error:
            return {"refused": f"the record cannot be written: {error}"}

    def _carry_out(self, line: bytes) -> dict[str, object] | None:
        match _request(line):
            case {"do": "status"}:
                return _tell(self.server.run.status())
            case {"do": "snapshot"}:
                self.server.run.snapshot()
            case {"do": "pause", "timeout_s": int() | float() as timeout_s}:
                self._resume()
                self.server.run.pause(timeout_s)
                self.paused = True
                self.server.run.snapshot()
            case {"do": "resume"}:
                self._resume()
            case _:
                raise TopologyError(
                    'a request is a line of JSON: {"do": "snapshot"}, {"do": "status"}, '
                    '{"do": "pause", "timeout_s": 60} or {"do": "resume"}'
                )
        return None

    def _resume(self) -> None:
        if self.paused:
            self.paused = False
            self.server.run.resume()


def _request(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _tell(status: Status) -> dict[str, object]:
    """The part of a status that goes over the socket."""
    whole = asdict(replace(status, events=(), ranges={}, times={}))
    kept = (
        "rows_in",
        "rows_out",
        "rows_late",
        "rows_bad",
        "watermark_us",
        "back_pressure",
        "watermarks",
        "waiting",
        "lag",
        "backlogs",
    )
    return {"state": status.state.value, **{name: whole[name] for name in kept}}


def status(home: Path) -> Status:
    """How the run that is recorded in `home` stands: its state, rows, watermarks, what they wait for, and what waits to be read.

    Raises:
        TopologyError: no run that goes on is recorded there, or it ended while it was asked.
    """
    with _Line(home) as line:
        told = line.ask(do="status")
    waiting = tuple(Waiting(**each) for each in told.pop("waiting"))
    backlogs = {spout: [Backlog(**each) for each in places] for spout, places in told.pop("backlogs").items()}
    return Status(RunState(told.pop("state")), waiting=waiting, backlogs=backlogs, **told)


def is_live(home: Path) -> bool:
    """Whether a run that goes on is recorded in `home`, and answers."""
    try:
        _connect(home).close()
    except TopologyError:
        return False
    return True


def snapshot(home: Path) -> RunRecord:
    """Have the run that is recorded in `home` write its record as it stands, without a pause.

    Every window that the record calls closed (`closed_us`) is in the result, and all rows that it came of are in the ranges.

    Raises:
        TopologyError: no run that goes on is recorded there, it ended while it was asked, or it cannot say how it stands.
    """
    with _Line(home) as line:
        line.ask(do="snapshot")
        return read_record(home)


@contextmanager
def paused(home: Path, timeout_s: float = PAUSE_SECONDS) -> Iterator[RunRecord]:
    """Inside, the run that is recorded in `home` is at rest, and its record is exact: all that was read is in the result, flushed.

    Windows that are open stay open. Afterwards the run goes on, also when whoever asked has failed or died.

    Raises:
        TopologyError: as `snapshot`; or it did not come to rest within `timeout_s`.
    """
    with _Line(home) as line:
        line.ask(do="pause", timeout_s=timeout_s)
        try:
            yield read_record(home)
        finally:
            with contextlib.suppress(TopologyError):  # a run that has ended meanwhile need not go on
                line.ask(do="resume")


class _Line:
    """The reader's side: one connection, one request at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._socket = _connect(home)
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *error: object) -> None:
        self._answers.close()
        self._socket.close()

    def ask(self, **request: object) -> dict[str, Any]:
        """Send a request, and wait for the answer.

        Raises:
            TopologyError: it was refused, or the run has ended.
        """
        self._socket.settimeout(_ANSWER_SECONDS + float(str(request.get("timeout_s", 0))))
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            answer = self._answers.readline()
        except TimeoutError:
            raise TopologyError(f"the run that is recorded in {self._home} does not answer") from None
        except OSError:
            answer = b""
        if not answer:
            raise self._make_ended_error()
        told: dict[str, Any] = json.loads(answer)
        if refused := told.get("refused"):
            raise TopologyError(refused)
        return told

    def _make_ended_error(self) -> TopologyError:
        if (self._home / LIVE).exists():
            return TopologyError(
                f"the run that is recorded in {self._home} was killed while it was asked for its record"
            )
        return TopologyError(
            f"the run that is recorded in {self._home} ended while it was asked; its last record is there, and is whole"
        )


def _connect(home: Path) -> socket.socket:
    """A connection to the run.

    Raises:
        TopologyError: there is none.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_CONNECT_SECONDS)
    try:
        connection.connect(os.fspath(json.loads((home / LIVE).read_text())["socket"]))
    except (OSError, ValueError, KeyError):
        connection.close()
        raise TopologyError(
            f"no run that goes on is recorded in {home}; start one with ouzel run --record {home}"
        ) from None
    return connection
