"""What befalls a cluster once in years: epochs whose numbers outgrow 16 or 32 bits, a clock that is set back, two masters in one tick."""

from __future__ import annotations

from typing import Any

import pytest

from ouzel.runtime.protocol.cluster.epochs import EpochsMachine, Phase
from ouzel.runtime.simulator.cluster.faults import ClusterFault, FaultKind
from tests.simulator.clusters.questions import plan_of, run_seed, shape_of

HOUR_MS = 3_600_000.0
CHANGES, WINDOWS, PUBLISHED = 37, 64, 40
"""Seeds of such questions."""


def deaths_of(seed: int) -> list[ClusterFault]:
    """All tasks die, one after the other."""
    _, packing = plan_of(shape_of(seed))
    keys = [(container.id, f"instance-{task.id}") for container in packing.containers for task in container.tasks]
    return [ClusterFault(FaultKind.KILL, 1_150.0 + 80 * number, key=key) for number, key in enumerate(keys)]


@pytest.mark.parametrize("before", [(1 << 15) - 2, (1 << 31) - 2, (1 << 32) - 2, (1 << 53) - 2, (1 << 62) - 2])
def test_epochs_go_on_over_every_width_of_a_number(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 32,767 a producer's epoch wraps, and at 2 to the 53rd a float: FLINK-40689."""

    begin = EpochsMachine.__init__

    def begin_late(machine: EpochsMachine, *given: Any, **named: Any) -> None:
        begin(machine, *given, **named)
        machine._newest = max(machine._newest, before)

    monkeypatch.setattr(EpochsMachine, "__init__", begin_late)
    run = run_seed(CHANGES, deaths_of(CHANGES))
    assert run.epoch > before + 2, "there were no epochs beyond the edge"
    assert run.generation > 0, "nobody went back to one of them"


@pytest.mark.parametrize("seed", [CHANGES, WINDOWS, PUBLISHED])
@pytest.mark.parametrize("phase", [Phase.DRAINING, Phase.WRITING, Phase.GOING_BACK], ids=lambda phase: phase.value)
def test_a_clock_that_is_set_back_changes_nothing(seed: int, phase: Phase) -> None:
    """While an epoch is taken, and again before the topology master and a task with state are started again."""
    set_back = [ClusterFault(FaultKind.CLOCK_SET_BACK, at_ms, phase, lasts_ms=HOUR_MS) for at_ms in (1_000.0, 1_250.0)]
    masters = [
        ClusterFault(FaultKind.KILL, 1_300.0, key=(0, name)) for name in ("topology-master", "topology-master-2")
    ]
    run_seed(seed, [*set_back, *masters, *deaths_of(seed)])


def test_a_fault_strikes_once_however_often_its_epoch_is_tried() -> None:
    """Else a task that dies while an epoch is written dies again each time that it is written: heron PR 3004."""
    fault = ClusterFault(FaultKind.KILL, 1_000.0, Phase.WRITING, key=(2, "instance-2"))
    run = run_seed(CHANGES, [fault])
    assert run.generation <= 1
    assert run.epoch > 0
