"""Every attack once, from a seed that does not change; `make attack` goes on from there."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.attack.arena import Arena
from tests.attack.attacks import ATTACKS

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.mark.parametrize("name", ATTACKS)
def test_the_topology_holds(name: str, tmp_path: Path) -> None:
    arena = Arena(tmp_path, Random(f"{name} 1"))
    try:
        ATTACKS[name](arena)
    except PermissionError as reason:
        pytest.skip(str(reason))
