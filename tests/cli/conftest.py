"""The examples, ready to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.examples import stage


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the examples and their input."""
    return stage(tmp_path_factory.mktemp("examples"))
