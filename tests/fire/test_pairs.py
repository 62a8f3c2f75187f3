"""Each source and each sink once under each fault that there is for them; `make fire` runs all pairs, and longer."""

from __future__ import annotations

import pytest

from tests.effort import seeds
from tests.fire.pairs import Grounds, run_pair

pytestmark = [pytest.mark.server, pytest.mark.slow]

EVENTS = 10_000
PAIRS = [("kafka", "kestrel"), ("kestrel", "redis"), ("redis", "files"), ("files", "kafka")]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_nothing_is_lost_under_fire(places: Grounds, pair: tuple[str, str]) -> None:
    outcome = run_pair(places, pair, seeds()[0], EVENTS)
    print(pair, outcome)
    assert outcome.lost == 0, outcome
    assert len(outcome.faults) >= 3, outcome
    assert outcome.twice < EVENTS // 2, "only what was in flight comes twice"
