"""Bugs that are planted are found: a simulator that finds none of these proves nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ouzel.runtime.process.sink_thread import SinkOrder
from ouzel.runtime.protocol.ledger import Ledger
from ouzel.runtime.protocol.messages import Flush
from ouzel.runtime.simulator.cluster.ports import SimulatedSink
from tests.simulator.clusters.questions import why_it_fails

SEEDS_MAX = 300

PUT = SimulatedSink.put


def say_that_it_is_flushed(sink: SimulatedSink, order: SinkOrder) -> None:
    """A sink acks as soon as it is asked to, before it has written."""
    if isinstance(order, Flush):
        sink._direct._flushed.append(order.number)
    else:
        PUT(sink, order)


PLANTED: dict[str, tuple[type, str, Callable[..., object]]] = {
    "a frame that comes again is handled again": (Ledger, "recall", lambda ledger, frame: None),
    "a sink acks before it has written": (SimulatedSink, "put", say_that_it_is_flushed),
}
"""What, where and how."""


@pytest.mark.whole
@pytest.mark.parametrize("planted", PLANTED)
def test_it_is_found(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, how = PLANTED[planted]
    monkeypatch.setattr(owner, name, how)
    assert any(why_it_fails(seed) for seed in range(SEEDS_MAX)), f"in {SEEDS_MAX} seeds"
