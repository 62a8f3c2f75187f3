"""Fixtures of the law: one folder of inputs for the whole session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.law.inputs import write_inputs


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the law's tables in `data`."""
    directory = tmp_path_factory.mktemp("law")
    write_inputs(directory)
    return directory
