"""Bugs that are planted in the real machines, to see that simulated clusters find them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ouzel.runtime.checkpoints.leaders import Leaders
from ouzel.runtime.checkpoints.staged import StagedWriter
from ouzel.runtime.process import epoch_keeper, epochs
from ouzel.runtime.process.sink_thread import SinkOrder
from ouzel.runtime.protocol.cluster.epochs import EpochsMachine
from ouzel.runtime.protocol.cluster.leadership import Fence
from ouzel.runtime.protocol.ledger import Ledger
from ouzel.runtime.protocol.messages import Flush, Instruction, Message, Send, TimeStatus, Watermark
from ouzel.runtime.protocol.task import TaskMachine
from ouzel.runtime.protocol.watermarks import Gate, InputClock, WatermarkStatus
from ouzel.runtime.simulator.cluster import updating
from ouzel.runtime.simulator.cluster.ports import SimulatedSink
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.wire.frames import Codec
from ouzel.runtime.wire.stream import Frame

Plant = Callable[[pytest.MonkeyPatch], None]

_put, _combine, _take, _release, _decode = (
    SimulatedSink.put,
    InputClock._combine,
    TaskMachine._take,
    Gate.release,
    Codec.decode,
)


def handle_again_what_comes_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ledger, "recall", lambda ledger, frame: None)


def ack_before_it_is_written(patch: pytest.MonkeyPatch) -> None:
    """A sink says that it has flushed as soon as it is asked to."""

    def put(sink: SimulatedSink, order: SinkOrder) -> None:
        if isinstance(order, Flush):
            sink._direct._flushed.append(order.number)
        else:
            _put(sink, order)

    patch.setattr(SimulatedSink, "put", put)


# Markers: a pause that travels behind the rows is the marker of an epoch.


def rest_when_the_first_input_does(patch: pytest.MonkeyPatch) -> None:
    """A task takes its snapshot when one of its inputs has come to the pause; the others still send rows of before."""

    def combine(clock: InputClock) -> WatermarkStatus:
        pauses = [moment.pause for moment in clock._inputs.values() if moment.status is TimeStatus.PAUSED]
        return replace(_combine(clock), status=TimeStatus.PAUSED, pause=max(pauses)) if pauses else _combine(clock)

    patch.setattr(InputClock, "_combine", combine)


def do_not_wait_for_rest(patch: pytest.MonkeyPatch) -> None:
    """A task takes its snapshot as soon as it hears of the epoch."""
    patch.setattr(TaskMachine, "is_at_rest_in", lambda machine, pause: True)


def let_a_pause_pass_what_is_not_acked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Gate, "release", lambda gate, settled: _release(gate, 1 << 62))


def send_no_marker_to_one(patch: pytest.MonkeyPatch) -> None:
    """A sender tells all but one of those who read it of a pause."""

    def take(machine: TaskMachine) -> list[Instruction]:
        out = _take(machine)
        paused = [one for one in out if isinstance(one, Send) and _is_pause(one.message)]
        forgotten = max((one.message.destination for one in paused), default=0)
        return [one for one in out if one not in paused or one.message.destination != forgotten]  # type: ignore[union-attr]

    patch.setattr(TaskMachine, "_take", take)


def _is_pause(message: Message) -> bool:
    return isinstance(message, Watermark) and message.status is TimeStatus.PAUSED


# Fences: who was deposed, or left behind, is not obeyed.


def obey_whoever_led_before(patch: pytest.MonkeyPatch) -> None:
    """Stream managers and tasks do what any topology master says."""
    patch.setattr(Fence, "admit", lambda fence, leadership: True)


def handle_frames_of_another_generation(patch: pytest.MonkeyPatch) -> None:
    def decode(codec: Codec, frame: Frame) -> Message | None:
        own, codec._generation = codec._generation, frame.header().generation
        try:
            return _decode(codec, frame)
        finally:
            codec._generation = own

    patch.setattr(Codec, "decode", decode)


def keep_what_came_after_the_epoch(patch: pytest.MonkeyPatch) -> None:
    """A sink does not notice that all have gone back, and publishes what it had of the generation before."""
    patch.setattr(StagedWriter, "_read_generation", lambda writer: 1 << 60)


def complete_an_epoch_though_another_leads(patch: pytest.MonkeyPatch) -> None:
    """A topology master does not look whether it still leads before it says that an epoch is kept."""
    patch.setattr(Leaders, "check_leads", lambda leaders, leadership: None)


def count_epochs_of_whoever_was_deposed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Leaders, "is_counted", lambda leaders, epoch, leadership: True)


def go_back_though_another_leads(patch: pytest.MonkeyPatch) -> None:
    """A topology master does not look whether it still leads before it tells tasks of a generation."""
    patch.setattr(epoch_keeper, "check_leads", lambda state, path, leadership: None)


def write_where_any_leader_does(patch: pytest.MonkeyPatch) -> None:
    """All topology masters write the generation into one node."""
    patch.setattr(epochs, "write_fenced", lambda state, path, data, leadership: state.put(path, data))
    patch.setattr(epochs, "read_fenced", lambda state, path: state.get(path))
    patch.setattr(epoch_keeper, "take_over", lambda state, path, leadership: state.get(path))


def count_snapshots_for_another_leader(patch: pytest.MonkeyPatch) -> None:
    """A snapshot that a task has taken for a topology master that was deposed is part of the next one's epoch of that number."""
    patch.setattr(EpochsMachine, "_is_taken_for_another", lambda machine, report: False)


# Updates: who takes whose place.


def start_where_tasks_were(patch: pytest.MonkeyPatch) -> None:
    """The first start of a revision does not go back to the epoch that the former one left."""
    patch.setattr(updating, "go_back", lambda job, state, store: None)


def give_all_keys_to_each_task(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StateContext, "_own", lambda state, part: part)


PLANTED: dict[Plant, int] = {
    handle_again_what_comes_again: 0,
    ack_before_it_is_written: 0,
    do_not_wait_for_rest: 29,
    let_a_pause_pass_what_is_not_acked: 29,
    send_no_marker_to_one: 0,
    handle_frames_of_another_generation: 56,
    keep_what_came_after_the_epoch: 160,
    give_all_keys_to_each_task: 25,
    start_where_tasks_were: 6,
}
"""What each plant is found by, the first seed to try."""

UNSEEN: tuple[Plant, ...] = (
    rest_when_the_first_input_does,
    obey_whoever_led_before,
    complete_an_epoch_though_another_leads,
    count_epochs_of_whoever_was_deposed,
    go_back_though_another_leads,
    write_where_any_leader_does,
    count_snapshots_for_another_leader,
)
"""Plants that no seed is known to find yet: 400 were tried of some, none of others. `tests/process/test_masters.py` finds
most of those of leaders; `tests/protocol/test_watermarks.py` tests when an input's pause counts."""
