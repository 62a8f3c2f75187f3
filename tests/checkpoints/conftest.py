"""No test of checkpoints waits for a real disk."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def quick_disk() -> Iterator[None]:
    """Syncing costs nothing; whether it is done in order is tested in tests/state/test_durable.py."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda file: None)
        yield
