"""A batch of the result is delivered once, and what no task has sent is refused."""

from __future__ import annotations

from io import BytesIO

import polars as pl
import pytest

from ouzel.runtime.protocol.cluster.results import ResultInbox
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, pack_header


def batch(number: int, task: int = 1) -> Frame:
    text = BytesIO()
    pl.DataFrame({"n": [number]}).write_ipc_stream(text)
    header = wire_pb2.Header(source=task, rows=1, id=number)
    return Frame(0, 0, memoryview(pack_header(wire_pb2.DATA, 0, header, len(text.getvalue())) + text.getvalue()))


def test_a_batch_that_comes_again_is_delivered_once_for_each_task() -> None:
    inbox = ResultInbox()
    assert [inbox.on_frame(batch(1, task)) is None for task in (1, 2, 1, 2)] == [False, False, True, True]


def test_of_batches_that_have_come_the_latest_are_remembered() -> None:
    inbox = ResultInbox(seen_max=10)
    come = [inbox.on_frame(batch(number)) is not None for number in [*range(100), *range(90, 100)]]
    assert come == [True] * 100 + [False] * 10
    assert inbox.on_frame(batch(0)) is not None, "long ago forgotten"


def test_what_no_task_has_sent_is_refused_and_not_remembered() -> None:
    inbox = ResultInbox()
    header = wire_pb2.Header(source=1, rows=1, id=7)
    with pytest.raises(Closed):
        inbox.on_frame(Frame(0, 0, memoryview(pack_header(wire_pb2.DATA, 0, header, 8) + bytes(8))))
    assert inbox.on_frame(batch(7)) is not None
