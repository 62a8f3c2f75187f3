"""Bugs that are planted are found: a simulator that finds none of these proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ouzel.runtime.process import epoch_keeper
from ouzel.runtime.protocol.cluster.epochs import EpochsMachine, Generation
from ouzel.runtime.protocol.cluster.follower import EpochPart, LastRun
from ouzel.runtime.protocol.cluster.leadership import Fence
from ouzel.runtime.protocol.cluster.links import PeerLink, Session
from ouzel.runtime.protocol.cluster.since_mark import SinceMark
from ouzel.runtime.protocol.ledger import Ledger
from ouzel.runtime.protocol.messages import Flush
from ouzel.runtime.simulator.cluster.ports import SimulatedSink
from ouzel.runtime.wire.frames import Codec
from tests.simulator.clusters.questions import why_it_fails

SEEDS_MAX = 300

PUT, DECODE = SimulatedSink.put, Codec.decode


def flushed_before_it_is_written(sink: SimulatedSink, order: object) -> None:
    """A sink says that it has flushed as soon as it is asked to."""
    if isinstance(order, Flush):
        sink._direct._flushed.append(order.number)
    else:
        PUT(sink, order)  # type: ignore[arg-type]


def decode_whatever_comes(codec: Codec, frame: Any) -> Any:
    """A frame of another generation is taken."""
    codec._generation, own = frame.header().generation, codec._generation
    try:
        return DECODE(codec, frame)
    finally:
        codec._generation = own


def send_no_frame_again(link: PeerLink, received: int, session: Session) -> None:
    """What was on a connection that is lost is lost."""
    link._seen = received
    link._unseen.clear()
    if link.session is not session:
        link.outbound.rewind(())
        link.session = session


def keep_and_go_on(part: EpochPart, generation: Generation, last: LastRun) -> None:
    """A task that is started again goes on as if it had kept nothing."""
    BEGIN(part, generation, last)
    part.needs_restore = False


BEGIN = EpochPart.__init__

PLANTED: dict[str, tuple[object, str, Callable[..., object]]] = {
    "a fence lets everybody through": (Fence, "admits", lambda fence, leadership: True),
    "a frame that comes again is handled again": (Ledger, "recall", lambda ledger, frame: None),
    "a sink acks before it has written": (SimulatedSink, "put", flushed_before_it_is_written),
    "a mark of the result is forgotten": (SinceMark, "on_mark", lambda since, task, epoch, kept: None),
    "a frame of another generation is taken": (Codec, "decode", decode_whatever_comes),
    "a task that has lost its state goes on": (EpochPart, "__init__", keep_and_go_on),
    "frames on a connection that is lost are not sent again": (PeerLink, "on_welcome", send_no_frame_again),
    "a leader does not look whether it still leads": (
        epoch_keeper,
        "check_leads",
        lambda state, path, leadership: None,
    ),
    "a snapshot for another leader counts": (EpochsMachine, "_took_for_another", lambda machine, report: False),
    "an epoch is kept before all is written": (
        EpochsMachine,
        "_is_written",
        lambda machine, task: task.files is not None,
    ),
}
"""What, where and how."""


@pytest.mark.whole
@pytest.mark.parametrize("planted", PLANTED)
def test_it_is_found(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, how = PLANTED[planted]
    monkeypatch.setattr(owner, name, how)
    assert any(why_it_fails(seed) for seed in range(SEEDS_MAX)), f"in {SEEDS_MAX} seeds"
