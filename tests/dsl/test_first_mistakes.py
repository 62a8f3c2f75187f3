"""What a program is told that makes a mistake of its first hour, and what `help` shows."""

from __future__ import annotations

import pydoc
from typing import Any

import pytest

from ouzel import Sink, Source, Store
from ouzel.errors import QueryError


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda n: n + 1, r"gives 2, which is of type int, and flat_map gives the records of a list, one by one"),
        (lambda n: None, r"gives None, which is of type NoneType"),
    ],
)
def test_flat_map_of_what_is_no_list_says_so(function: Any, told: str) -> None:
    with pytest.raises(QueryError, match=told) as caught:
        Source.of([1, 2]).flat_map(function)
    assert caught.value.instead == "return a list, or write map(...) for one record"


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        (
            Source,
            (
                "Source.file(path, record type, option=value, ...)",
                "    bad_record: What becomes",
                "    csv_delimiter: ",
            ),
        ),
        (Sink, ("Sink.kafka(topic, option=value, ...)", "    bootstrap_servers: ")),
        (Store, ("Store.redis",)),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_help_lists_connectors_with_their_options(what: type, lines: tuple[str, ...]) -> None:
    text = pydoc.plain(pydoc.render_doc(what))
    assert "Where" in text
    assert all(line in text for line in lines), text


class Numbered:
    """A service that takes its keys as a list."""

    def get_many(self, keys: list[int]) -> dict[int, str]:
        """Needs what only a list has."""
        return {key: f"number {place}" for place, key in enumerate(keys[:])}


def test_a_service_is_given_a_list() -> None:
    pairs = Source.of([(3, "a"), (3, "b"), (4, "c")]).left_join(Numbered(), returns=str)
    assert sorted(pairs.memory()) == [(3, ("a", "number 0")), (3, ("b", "number 0")), (4, ("c", "number 1"))]
