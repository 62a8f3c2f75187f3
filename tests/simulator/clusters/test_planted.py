"""Bugs that are planted are found: a simulator that finds none of these proves nothing."""

from __future__ import annotations

import pytest

from tests.simulator.clusters.planted import PLANTED, UNSEEN, Plant
from tests.simulator.clusters.questions import why_it_fails

SEEDS_MAX = 2_000


@pytest.mark.whole
@pytest.mark.parametrize(("plant", "found"), PLANTED.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_it_is_found(plant: Plant, found: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert any(why_it_fails(seed) for seed in (found, *range(SEEDS_MAX))), f"in {SEEDS_MAX} seeds"


@pytest.mark.parametrize("plant", UNSEEN, ids=lambda plant: plant.__name__)
def test_what_no_seed_finds_yet_is_planted_where_the_code_is_now(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
