"""Records of several streams as those of one."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from ouzel import QueryError, Source


class Visit(NamedTuple):
    """A visit of a site."""

    user: str
    page: str


class AppVisit(NamedTuple):
    """The same of an application, in another order."""

    page: str
    user: str


class Click(NamedTuple):
    """The same under another name."""

    user: str
    target: str


class Seen(NamedTuple):
    """The same as a visit."""

    user: str
    page: str


visits = Source.of([Visit("ada", "home")])


def test_fields_of_another_order_are_refused() -> None:
    """Engines go by the place and functions by the name: the two would differ."""
    said = r"Visit\(user, page\) cannot be merged with one of AppVisit\(page, user\): the order of their fields is another; "
    with pytest.raises(
        QueryError, match=said + r"write other\.map\(lambda record: Visit\(record\.user, record\.page\)\)"
    ):
        visits.merge(Source.of([AppVisit("home", "ben")]))  # type: ignore[arg-type]


def test_fields_of_another_name_are_refused() -> None:
    said = r"one of Click: where Visit has page it has target; write other\.map\(lambda record: Visit\(record\.user, record\.target\)\)"
    with pytest.raises(QueryError, match=said):
        visits.merge(Source.of([Click("ben", "home")]))  # type: ignore[arg-type]


def test_fields_of_other_types_are_refused() -> None:
    with pytest.raises(
        QueryError, match=r"a stream of Visit cannot be merged with one of int; map both to the same type"
    ):
        visits.merge(Source.of([1]))  # type: ignore[arg-type]


def test_two_classes_of_the_same_fields_are_merged() -> None:
    merged = visits.merge(Source.of([Seen("ben", "cart")])).map(lambda visit: visit.page)  # type: ignore[arg-type]
    assert sorted(merged.memory()) == sorted(merged.table("memory").to_series()) == ["cart", "home"]
