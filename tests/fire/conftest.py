"""The servers of all tests here: a broker takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fire.pairs import Grounds, grounds


@pytest.fixture(scope="package")
def places() -> Iterator[Grounds]:
    """The servers of all pairs."""
    with grounds() as made:
        yield made
