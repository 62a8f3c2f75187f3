"""A batch of the result is delivered once, and what no task has sent is refused."""

from __future__ import annotations

from io import BytesIO

import polars as pl
import pytest

from ouzel.runtime.protocol.cluster.results import ResultInbox
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, pack_header


def batch(number: int, task: int = 1, rows: tuple[int, ...] = (0,)) -> Frame:
    text = BytesIO()
    pl.DataFrame({"n": rows}).write_ipc_stream(text)
    header = wire_pb2.Header(source=task, rows=1, id=number)
    return Frame(0, 0, memoryview(pack_header(wire_pb2.DATA, 0, header, len(text.getvalue())) + text.getvalue()))


def said(kind: int, task: int = 1, **mark: int) -> Frame:
    header = wire_pb2.Header(source=task, mark=wire_pb2.Mark(**mark))
    return Frame(kind, 0, memoryview(pack_header(kind, 0, header)))


def numbers(rows: pl.DataFrame | None) -> list[int]:
    return [] if rows is None else rows["n"].to_list()


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


def test_an_id_stands_for_other_rows_after_a_roll_back_and_for_the_same_after_a_new_start() -> None:
    inbox = ResultInbox()
    assert inbox.on_frame(said(wire_pb2.ROLL_BACK, epoch=0, generation=1)) is None
    assert numbers(inbox.on_frame(batch(1, rows=(1, 2)))) == [1, 2]
    inbox.on_frame(said(wire_pb2.MARK, epoch=1, kept=0))
    assert numbers(inbox.on_frame(batch(2, rows=(3, 4, 4)))) == [3, 4, 4]
    inbox.on_frame(said(wire_pb2.ROLL_BACK, epoch=1, generation=2))
    assert numbers(inbox.on_frame(batch(2, rows=(4, 5)))) == [5]
    assert numbers(inbox.on_frame(batch(2, rows=(4, 5)))) == [], "a replay"
    inbox.on_frame(said(wire_pb2.ROLL_BACK, epoch=1, generation=2))
    assert numbers(inbox.on_frame(batch(2, rows=(4, 5)))) == [], "a replay, by another process"
    assert numbers(inbox.on_frame(batch(3, rows=(4, 3, 4)))) == [4]


def test_a_frame_that_no_task_of_a_sink_sends_is_refused() -> None:
    with pytest.raises(Closed):
        ResultInbox().on_frame(said(wire_pb2.WATERMARK))
