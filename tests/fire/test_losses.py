"""At most once nothing comes twice, and what is lost was on its way when something broke."""

from __future__ import annotations

import pytest

from tests.effort import seeds
from tests.fire.losses import run_at_most_once
from tests.fire.pairs import Grounds

pytestmark = [pytest.mark.server, pytest.mark.slow]


def test_only_what_was_on_its_way_is_lost_at_most_once(places: Grounds) -> None:
    outcome = run_at_most_once(places, "redis", seeds()[0], ("reader", "writer"))
    print(outcome)
    assert outcome.twice == 0, outcome
