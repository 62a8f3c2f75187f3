"""Services: what is asked for the keys of a stream, on every platform that can ask."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import pytest

from ouzel import Source, Stream, monoid
from ouzel.errors import NotSupported, OuzelError, QueryError
from ouzel.stores.batcher import BatchID, BatchRange
from ouzel.stores.store import MemoryVersion

CITIES = {"JFK": "New York", "LGA": "New York", "SFO": "San Francisco"}


class Airports:
    """A service of the user's; it says for which keys it was asked."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known, self.asked = dict(known), list[list[str]]()

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        self.asked.append(sorted(keys))
        return {key: self.known[key] for key in self.asked[-1] if key in self.known}


class Flight(NamedTuple):
    at: datetime
    origin: str


class Broken:
    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        raise OSError("the line is dead")


class Leaving:
    def __init__(self, leave: Callable[[int], object]) -> None:
        self.leave = leave

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        self.leave(3)
        return {}


def flights() -> Stream[tuple[str, int]]:
    return Source.of([("JFK", 1), ("XXX", 2), ("SFO", 3), ("JFK", 4)])


def test_each_pair_has_what_the_service_answers_on_every_platform_that_asks() -> None:
    named = flights().left_join(Airports(CITIES)).map_values(lambda both: (both[1] or "nowhere", both[0]))
    expected = [
        ("JFK", ("New York", 1)),
        ("JFK", ("New York", 4)),
        ("SFO", ("San Francisco", 3)),
        ("XXX", ("nowhere", 2)),
    ]
    assert sorted(named.memory()) == expected
    assert sorted((key, tuple(value.values())) for key, value in named.table("memory").iter_rows()) == expected


def test_a_version_of_a_store_is_a_service_and_records_are_keys() -> None:
    batches = BatchRange(BatchID(0), BatchID(1))
    looked = flights().keys().lookup(MemoryVersion(batches, {"JFK": 7, "SFO": 9}))
    expected = [("JFK", 7), ("JFK", 7), ("SFO", 9), ("XXX", None)]
    assert sorted(looked.memory()) == expected
    assert sorted(looked.table("memory").iter_rows()) == expected


def test_a_stream_keeps_its_time() -> None:
    start = datetime(2013, 1, 1)
    given = Source.of([Flight(start + timedelta(minutes=n), code) for n, code in enumerate(("JFK", "LGA", "SFO"))])
    pairs = given.event_time("at").map(lambda flight: (flight.origin, 1)).left_join(Airports(CITIES))
    totals = pairs.map(lambda pair: (pair[1][1], pair[1][0])).sum_by_window(monoid.Sum(), timedelta(hours=1))
    assert sorted((one[0], one[-1]) for one in totals.memory()) == [("New York", 2), ("San Francisco", 1)]
    assert sorted((one[0], one[-1]) for one in totals.table("memory").iter_rows()) == [
        ("New York", 2),
        ("San Francisco", 1),
    ]


@pytest.mark.parametrize("leave", [sys.exit, lambda status: os._exit(status)], ids=["exit", "_exit"])
def test_a_service_that_would_end_the_process_is_named(leave: Callable[[int], object]) -> None:
    """By exit() the program ended without a word where a type was asked for, and a task without the service's name."""
    with pytest.raises(QueryError, match="what Leaving answers does not show before the program runs"):
        flights().left_join(Leaving(leave))
    with pytest.raises(OuzelError, match=r"Leaving \(.*test_services.py:\d+\) has not answered: SystemExit: "):
        flights().left_join(Leaving(leave), returns=str).table("memory")


class InOrder:
    """Gives values in the order of the keys, as MGET of Redis does."""

    def get_many(self, keys: list[str]) -> list[object]:
        return [CITIES.get(key) for key in keys]


def test_a_service_that_gives_no_mapping_says_so_in_a_run_as_well() -> None:
    said = r"get_many of InOrder( \(.*test_services.py:\d+\))? gave a list, and is to give a mapping of keys to values; return \{key: …\}"
    with pytest.raises(QueryError, match=said):
        flights().left_join(InOrder())
    with pytest.raises(OuzelError, match=said):
        flights().left_join(InOrder(), returns=str).table("memory")


def test_what_cannot_be_asked_is_refused_with_the_reason() -> None:
    with pytest.raises(QueryError, match="left_join takes a stream of pairs or a service"):
        flights().left_join({"JFK": 1})  # type: ignore[call-overload]
    with pytest.raises(QueryError, match=r"what Broken answers does not show before the program runs.*returns=str"):
        flights().left_join(Broken())
    with pytest.raises(
        OuzelError, match=r"Broken \(.*test_services.py:\d+\) has not answered: OSError: the line is dead"
    ):
        flights().left_join(Broken(), returns=str).table("memory")
    changing = flights().sum_by_key(monoid.Sum()).left_join(Airports(CITIES))
    with pytest.raises(NotSupported, match=r"Airports is asked for pairs that change, at .*test_services.py"):
        changing.table("memory")
    held = Airports(CITIES)
    held.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(QueryError, match=r"Airports .* cannot be sent to other processes"):
        flights().left_join(held).table("memory")
    with pytest.raises(NotSupported, match="the PySpark job cannot take Served: a service answers for single keys"):
        flights().left_join(Airports(CITIES)).batch()
