"""Fields that no JSON record has are None in silence: that is warned of, unless they may be None and none is called alike."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ouzel import Source
from ouzel.compiler.catalog import QueryWarning


class Right(NamedTuple):
    """What the file has, and what other files have."""

    user: str
    note: str | None


class Misspelt(NamedTuple):
    """A field that the file has under a name alike."""

    usr: str | None


class Lacking(NamedTuple):
    """A field that the file has not, and that is never None."""

    amount: int


@pytest.fixture(name="people")
def fixture_people(tmp_path: Path) -> Path:
    path = tmp_path / "people.jsonl"
    path.write_text('{"user": "a"}\n{"user": "b"}\n')
    return path


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (Misspelt, "has a field usr; its fields are user; did you mean user?"),
        (Lacking, "has a field amount; its fields are user; a column without a field is NULL"),
        (
            tuple[str, int, int],
            "has a field f0; its fields are user; a column without a field is NULL; give a tuple's fields names, "
            "columns=['a', 'b'], or take a NamedTuple",
        ),
    ],
)
def test_a_field_that_no_record_has_is_warned_of(people: Path, record: Any, told: str) -> None:
    with pytest.warns(QueryWarning) as caught:
        Source.file(people, record, format="json").table("memory")
    first = str(caught[0].message)
    assert first.startswith(f"the source at {__file__}:")
    assert first.endswith(told)


def test_a_field_that_may_be_none_is_not(people: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Source.file(people, Right, format="json").table("memory").rows() == [("a", None), ("b", None)]
