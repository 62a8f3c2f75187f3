"""However masters die, stand still and wake up: never are two leaders obeyed, and what anybody acted on is known to the next leader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ouzel.runtime.checkpoints.leaders import Leaders
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.protocol.cluster.leadership import Fence
from tests.effort import seeds
from tests.process.masters import play

PLANTED_SEEDS = 200


@pytest.mark.parametrize("seed", seeds())
def test_no_two_leaders_are_obeyed(tmp_path: Path, seed: int) -> None:
    world = play(tmp_path, seed)
    assert len(world.leaderships) > 1, "nobody took over"


def skip_the_fence_of_tasks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Fence, "admit", lambda fence, leadership: True)


def skip_the_fence_of_the_state_manager(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("tests.process.masters.write_fenced", lambda state, path, data, leadership: state.put(path, data))
    patch.setattr("tests.process.masters.take_over", lambda state, path, leadership: state.get(path))


def do_not_look_after_a_write(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("tests.process.masters.check_leads", lambda state, path, leadership: None)


def do_not_look_after_an_epoch(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CheckpointStore, "check_leads", lambda store, leadership: None)


def count_epochs_of_whoever_was_deposed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Leaders, "is_counted", lambda leaders, epoch, leadership: True)


PLANTED = {
    skip_the_fence_of_tasks: 0,
    skip_the_fence_of_the_state_manager: 0,
    do_not_look_after_a_write: 0,
    do_not_look_after_an_epoch: 0,
    count_epochs_of_whoever_was_deposed: 300,  # it shows under one seed in 200 or so
}
"""What is left out, and the first seed to try."""


@pytest.mark.parametrize(("plant", "first"), PLANTED.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_fence_that_is_missing_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], first: int
) -> None:
    plant(monkeypatch)
    for seed in range(first, first + PLANTED_SEEDS):
        try:
            play(tmp_path / str(seed), seed)
        except AssertionError:
            return
    pytest.fail(f"{PLANTED_SEEDS} seeds went well without it")
