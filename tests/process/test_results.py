"""Results on their way to the client: what a task has handed over is there after the client has caught up, however slow it is."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.process.results import SOCKET_NAME, ResultReader, ResultSender
from ouzel.runtime.wire.stream import Inbound
from tests.servers.waiting import wait_until


def test_what_was_handed_over_before_is_there_when_the_client_has_caught_up() -> None:
    taken: list[int] = []

    def deliver(frame: pl.DataFrame) -> None:
        time.sleep(0.001)
        taken.extend(frame["n"])

    with TemporaryDirectory(prefix="ouzel-") as name:
        reader = ResultReader(Path(name), deliver, lambda: True)
        writers = [ResultSender(Path(name), task) for task in range(3)]
        for round_number in range(5):
            for task, writer in enumerate(writers):
                for number in range(10):
                    writer.write(100 * round_number + number, pl.DataFrame({"n": [task]}))
            reader.catch_up(10)
            assert len(taken) == 30 * (round_number + 1)
        writers[0].write(1, pl.DataFrame({"n": [7]}))
        reader.catch_up(10)
        assert 7 not in taken, "a batch that comes again is taken once"
        writers[0].write(999, pl.DataFrame({"n": [8]}))
        reader.close()
        assert taken[-1] == 8, "what was left in the sockets comes with the end"
        reader.catch_up(10)


@pytest.mark.parametrize(
    "rubbish", [bytes(64), b"\xff" * 4096, (250 << 20).to_bytes(4, "little") + b"\x01", bytes(range(256))], ids=len
)
def test_whoever_sends_no_batch_is_hung_up_on_and_nothing_else_ends(rubbish: bytes) -> None:
    taken: list[int] = []
    with TemporaryDirectory(prefix="ouzel-") as name:
        reader = ResultReader(Path(name), lambda frame: taken.extend(frame["n"]), lambda: True)
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(Path(name) / SOCKET_NAME))
            with contextlib.suppress(OSError):
                stranger.sendall(rubbish)
        ResultSender(Path(name), 1).write(1, pl.DataFrame({"n": [7]}))
        reader.close()
        assert (taken, reader.failure) == ([7], "")


def test_rows_that_come_again_after_a_roll_back_are_taken_once() -> None:
    taken: list[int] = []
    with TemporaryDirectory(prefix="ouzel-") as name:
        reader = ResultReader(Path(name), lambda frame: taken.extend(frame["n"]), lambda: True)
        senders = [ResultSender(Path(name), task) for task in range(2)]
        for task, sender in enumerate(senders):
            sender.roll_back(0, 1)
            sender.write(1, pl.DataFrame({"n": [10 + task]}))
            sender.mark(1, 0)
            sender.write(2, pl.DataFrame({"n": [20, 20 + task]}))
        reader.catch_up(10)
        for task, sender in enumerate(senders):
            sender.roll_back(1, 2)
            sender.write(2, pl.DataFrame({"n": [[21, 20, 30], [20, 20, 30]][task]}))
        reader.close()
    assert sorted(taken) == [10, 11, 20, 20, 20, 21, 30, 30]


def test_changes_after_a_mark_are_taken_back_by_a_roll_back() -> None:
    taken: list[pl.DataFrame] = []
    with TemporaryDirectory(prefix="ouzel-") as name:
        reader = ResultReader(Path(name), taken.append, lambda: True)
        sender = ResultSender(Path(name), 1)
        sender.mark(1, 0)
        for batch, change in enumerate([(1, 1), (1, -1), (2, 1)]):
            sender.write(batch, pl.DataFrame([change], ["n", WEIGHT], orient="row"))
        sender.roll_back(1, 1)
        reader.close()
    assert [frame.rows() for frame in taken] == [[(1, 1)], [(1, -1)], [(2, 1)], [(2, -1)]]


def test_what_a_task_had_sent_before_it_died_is_taken_before_what_it_sends_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mark that is read after the roll back of the next process would be of rows that are long delivered."""
    monkeypatch.setattr("ouzel.runtime.process.results.Inbound", lambda: Inbound(chunk_bytes=64))
    taken: list[int] = []
    has_room = False
    with TemporaryDirectory(prefix="ouzel-") as name:
        reader = ResultReader(Path(name), lambda frame: taken.extend(frame["n"]), lambda: has_room)
        former, sender = ResultSender(Path(name), 1), ResultSender(Path(name), 1)
        former.roll_back(0, 1)
        for number in range(20):
            former.write(number, pl.DataFrame({"n": [number]}))
        former.mark(1, 0)
        former.write(20, pl.DataFrame({"n": [20]}))
        former._connect().close()
        sender.roll_back(1, 2)
        sender.write(20, pl.DataFrame({"n": [20, 21]}))
        has_room = True
        reader.resume()
        reader.close()
    assert taken == list(range(22))


def test_a_writer_waits_for_a_reader_that_has_no_room() -> None:
    taken: list[int] = []
    written: list[int] = []
    ahead: list[int] = []
    ended = False

    def write(writer: ResultSender) -> None:
        for number in count():
            writer.write(number, pl.DataFrame({"n": [number] * 10_000}))
            written.append(number)
            ahead.append(len(written) - len(taken))
            if ended:
                return

    with TemporaryDirectory(prefix="ouzel-") as name:
        most = 5
        reader = ResultReader(Path(name), lambda frame: taken.append(frame["n"][0]), lambda: len(taken) < most)
        sender = ResultSender(Path(name), 1)
        writer = Thread(target=write, args=(sender,))
        writer.start()
        wait_until(lambda: len(taken) >= 5)
        wait_until(lambda: _is_full(sender))
        assert len(written) < 50, "what fits into the sockets, and no more"
        before, most = len(taken), 200
        reader.resume()
        wait_until(lambda: len(taken) >= 200)
        assert taken[:before] == list(range(before))
        reader.catch_up(10)
        ended, most = True, 10**9
        reader.resume()
        writer.join(10)
        reader.close()
        assert taken == written
        assert max(ahead) < 50


def _is_full(sender: ResultSender) -> bool:
    """Whether its socket takes no more; so it stays while nobody reads."""
    return sender._socket is not None and not select.select([], [sender._socket], [], 0)[1]
