"""What the tests of batches share: queries as jobs, and what a reader reads without a JVM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ouzel.batch.run import Batch, batch
from ouzel.session import Job, load_text

Ranges = dict[str, dict[str, tuple[int, int]]]


@pytest.fixture
def job(tmp_path: Path) -> Callable[[str], Job]:
    """Compiles SQL whose paths start in the test's folder."""
    return lambda text: load_text(text, tmp_path, "query")


@pytest.fixture
def made(job: Callable[[str], Job]) -> Callable[..., Batch]:
    """The batch of some SQL, over everything or over given offsets."""
    return lambda text, offsets=None: batch(job(text), offsets)
