"""What processes do by the clock, they do by the one that they are given."""

from __future__ import annotations

from pathlib import Path

from ouzel.runtime.process.gateway import Gateway
from ouzel.runtime.wire import wire_pb2


class Clock:
    """Stands where the test puts it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_gateway_beats_twice_in_the_time_of_a_beat(tmp_path: Path) -> None:
    clock, beats = Clock(), list[float]()

    def beat(arriving: bool) -> bool:
        beats.append(clock.now)
        return False

    gateway = Gateway(tmp_path / "nobody", wire_pb2.Hello(), beat, 1_000, 1 << 20, clock)
    for clock.now in (0.5, 0.6, 0.9, 1.0, 1.4, 1.7, 2.1, 2.2):
        gateway._beat_if_due(None)
    assert beats == [0.5, 1.0, 1.7, 2.2]
