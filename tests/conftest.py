"""What all tests share."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes expected plans anew; look at the difference before you commit it."""
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files anew instead of comparing with them"
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written anew."""
    return bool(request.config.getoption("--update-golden"))
