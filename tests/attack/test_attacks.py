"""Every attack once, from a seed that does not change; `make attack` goes on from there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.arena import Arena, seeded
from tests.attack.attacks import ATTACKS

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory of a short name, for the sake of the sockets in it."""
    with tempfile.TemporaryDirectory(prefix="at") as name:
        yield Path(name)


@pytest.mark.parametrize("name", ATTACKS)
def test_the_topology_holds(name: str, directory: Path) -> None:
    try:
        ATTACKS[name](Arena(directory, seeded(name, 1)))
    except PermissionError as reason:
        pytest.skip(str(reason))
