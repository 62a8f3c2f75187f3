"""What a program is told that makes a mistake of its first hour, and what `help` shows."""

from __future__ import annotations

import pydoc
import re
from typing import Any

import pytest

from ouzel import Sink, Source, Store
from ouzel.errors import OuzelError, QueryError
from tests.dsl.mistakes import WHEN_RUN, WHEN_WRITTEN


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


@pytest.mark.parametrize("name", WHEN_WRITTEN)
def test_a_program_that_is_wrong_is_told_what_to_write(name: str) -> None:
    program, told = WHEN_WRITTEN[name]
    with pytest.raises((OuzelError, AttributeError, TypeError)) as caught:
        program()
    assert str(caught.value) == told


@pytest.mark.parametrize("name", WHEN_RUN)
def test_a_program_that_fails_on_a_record_is_told_the_record_and_the_line(name: str) -> None:
    program, told = WHEN_RUN[name]
    with pytest.raises(OuzelError) as caught:
        program()
    assert re.sub(r"\(at \S*/mistakes.py:[0-9]+\)", "(at LINE)", str(caught.value)) == told
