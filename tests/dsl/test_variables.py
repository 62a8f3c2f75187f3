"""Functions that change variables around them are warned of, and those whose variables have changed since their step was written."""

from __future__ import annotations

import dis
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest

from ouzel import Source, monoid
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import QueryError

seen: set[str] = set()
found: list[str] = []
counts: dict[str, int] = {}
told = Counter[str]()
groups: dict[int, list[str]] = {1: []}
newest: dict[str, int] = {"a": 1}


def is_new(word: str) -> bool:
    if word in seen:
        return False
    seen.add(word)
    return True


def kept(word: str) -> str:
    found.append(word)
    return word


def counted(word: str) -> int:
    counts[word] = counts.get(word, 0) + 1
    return counts[word]


def counted_in_place(word: str) -> str:
    told[word] += 1
    return word


def grouped(word: str) -> str:
    groups[len(word) % 2].append(word)
    return word


def forgotten(word: str) -> str:
    del newest[word]
    return word


def by_default(word: str, before: list[str] = []) -> int:  # noqa: B006  # what is warned of
    before.append(word)
    return len(before)


class Numbered:
    """Counts in an attribute."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, word: str) -> str:
        self.n += 1
        return f"{word}{self.n}"


numbers = itertools.count()


def numbered(word: str) -> tuple[int, str]:
    return next(numbers), word


CHANGES: dict[str, tuple[Callable[[str], Any], str]] = {
    "a set": (is_new, "map is_new changes the variable 'seen', of which each task has one of its own"),
    "a list": (kept, "map kept changes the variable 'found'"),
    "a dict": (counted, "map counted changes the variable 'counts'"),
    "a counter": (counted_in_place, "map counted_in_place changes the variable 'told'"),
    "a list in a dict": (grouped, "map grouped changes the variable 'groups'"),
    "an item that goes": (forgotten, "map forgotten changes the variable 'newest'"),
    "a default": (by_default, "map by_default changes its argument 'before', whose default is made once"),
    "an iterator": (numbered, "map numbered changes the variable 'numbers', an iterator which goes on"),
    "an attribute": (Numbered(), "map Numbered changes the attribute 'n'"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_function_that_changes_what_is_around_it_is_warned_of(name: str) -> None:
    function, text = CHANGES[name]
    with pytest.warns(QueryWarning, match=re.escape(text)) as caught:
        Source.of(["a"]).map(function)
    assert caught[0].filename == __file__
    assert "sum_by_key(monoid)" in str(caught[0].message)


known: dict[str, int] = {}


def remembered(word: str) -> int:
    """What is computed once for each word is right in each task."""
    if word not in known:
        known[word] = len(word)
    return known[word]


class Connected:
    """Makes what it needs when it is first called."""

    def __init__(self) -> None:
        self.client: object = None

    def __call__(self, word: str) -> str:
        if self.client is None:
            self.client = object()
        return word


def with_own_list(word: str) -> list[str]:
    parts: list[str] = []
    parts.append(word)
    return parts


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", [remembered, Connected(), with_own_list, lambda word: known.get(word, 0)])
def test_a_function_that_only_remembers_is_right(function: Callable[[str], Any]) -> None:
    assert Source.of(["a"]).map(function).memory()


def test_a_variable_of_a_loop_is_warned_of() -> None:
    """Both steps saw the last prefix."""
    words, parts = Source.of(["to", "be"]), []
    for prefix in ("t", "b"):
        parts.append(words.filter(lambda word: word.startswith(prefix)))  # noqa: B023  # what is warned of
    expected = r"\(at .*test_variables.*\) uses 'prefix', which was 't' when .* is 'b' .* write lambda record, prefix=prefix: …"
    with pytest.warns(QueryWarning, match=expected):
        assert parts[0].merge(parts[1]).memory() == ["be", "be"]
    with pytest.warns(QueryWarning, match=expected):
        parts[0].job()


def test_a_default_keeps_what_a_variable_was() -> None:
    words, parts = Source.of(["to", "be"]), []
    for prefix in ("t", "b"):
        parts.append(words.filter(lambda word, prefix=prefix: word.startswith(prefix)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parts[0].merge(parts[1]).memory() == ["to", "be"]


def test_a_function_that_uses_a_stream_is_told_to_join_it() -> None:
    counts = Source.of([("to", 1)])
    with pytest.raises(QueryError) as caught:
        Source.of(["to"]).map(lambda word: dict(counts.memory())[word])
    assert str(caught.value) == (
        "map lambda word: dict(counts.memory())[word] uses the stream 'counts', which would run for each record; "
        "map to pairs by the same key, and join: a.map(lambda record: (key, record)).left_join(counts)"
    )


class FirstOnly:
    """Lets each key through once."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def __call__(self, record: int) -> bool:
        if record in self.seen:
            return False
        self.seen.add(record)
        return True


def test_a_function_that_keeps_something_is_warned_of_and_tried_on_a_copy() -> None:
    records = Source.of([1, 2, 1, 3, 2])
    with pytest.warns(QueryWarning, match=r"filter FirstOnly changes its attribute 'seen'"):
        once = records.filter(FirstOnly()).map(lambda record: (record, "x"))
    assert sorted(once.table("memory").rows()) == [(1, "x"), (2, "x"), (3, "x")]


def test_a_filter_that_keeps_what_it_has_seen_is_told_how_duplicates_are_dropped() -> None:
    words = Source.of(["to", "be", "to"])
    with pytest.warns(
        QueryWarning, match=r"; to drop what comes again write .*\.sum_by_key\(monoid\.Count\(\)\)\.keys\(\)$"
    ):
        assert words.filter(FirstOnly()) is not words
    with pytest.warns(QueryWarning, match=r"; keep what is to be known of a key by sum_by_key\(monoid\)$"):
        assert words.map(FirstOnly()) is not words
    distinct = words.map(lambda record: (record, 1)).sum_by_key(monoid.Count()).keys()
    assert sorted(distinct.table("memory").rows()) == [("be",), ("to",)]


def test_a_function_is_disassembled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    disassemble = dis.get_instructions

    def told(code: CodeType) -> Iterator[dis.Instruction]:
        made.append(code)
        return disassemble(code)

    monkeypatch.setattr(dis, "get_instructions", told)

    def lengthened(word: str) -> str:
        return f"{word}!"

    assert Source.of(["a"]).map(lengthened).memory() == ["a!"]
    assert made.count(lengthened.__code__) == 1
