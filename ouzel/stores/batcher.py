"""Time cut into batches, which are numbered in the order of time: what a batch job computes as a whole, and a store keeps apart.

Times are in UTC and without a zone, as records have them; one that knows its zone is taken to UTC.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import overload
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ouzel.errors import QueryError

EPOCH = datetime(1970, 1, 1)
HOUR = timedelta(hours=1)
UNITS = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": HOUR, "day": timedelta(days=1)}
"""Units of batches of a fixed length."""
CALENDAR = ("hour", "day", "week", "month", "year")
"""Units of batches by the calendar."""

_SPELLINGS = "'1 day', '6 hours', 'day Europe/Vienna', 'month', or 'day until 2024-03-01 then 1 hour'"


@dataclass(frozen=True, order=True)
class BatchID:
    """The number of a batch."""

    number: int

    @property
    def next(self) -> BatchID:
        """The batch after this one."""
        return self + 1

    @property
    def prev(self) -> BatchID:
        """The batch before this one."""
        return self - 1

    def __add__(self, batches: int) -> BatchID:
        return BatchID(self.number + batches)

    @overload
    def __sub__(self, other: int) -> BatchID: ...

    @overload
    def __sub__(self, other: BatchID) -> int: ...

    def __sub__(self, other: int | BatchID) -> BatchID | int:
        return self.number - other.number if isinstance(other, BatchID) else BatchID(self.number - other)

    def __str__(self) -> str:
        return str(self.number)


@dataclass(frozen=True)
class BatchRange(Sequence[BatchID]):
    """Batches that follow each other, from `start` to just before `end`; as `range` has numbers."""

    start: BatchID
    end: BatchID

    @property
    def _numbers(self) -> range:
        return range(self.start.number, self.end.number)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[BatchID]:
        return map(BatchID, self._numbers)

    def __contains__(self, batch: object) -> bool:
        return isinstance(batch, BatchID) and batch.number in self._numbers

    @overload
    def __getitem__(self, place: int) -> BatchID: ...

    @overload
    def __getitem__(self, place: slice) -> BatchRange: ...

    def __getitem__(self, place: int | slice) -> BatchID | BatchRange:
        found = self._numbers[place]
        return BatchID(found) if isinstance(found, int) else BatchRange(BatchID(found.start), BatchID(found.stop))


class Batcher(ABC):
    """Says to which batch a time belongs. Batches neither overlap nor leave anything out, and their numbers grow with time.

    An object is a description that can be compared, pickled and, as `str` and `parse_batcher`, written down.
    """

    @abstractmethod
    def batch_of(self, time: datetime) -> BatchID:
        """The batch that a time lies in."""

    @abstractmethod
    def earliest_time_of(self, batch: BatchID) -> datetime:
        """The first moment of a batch, and the end of the one before it.

        Raises:
            OverflowError: it lies outside of the years 1 to 9999.
        """

    def interval_of(self, batch: BatchID) -> tuple[datetime, datetime]:
        """The first moment of a batch, and that of the next."""
        return self.earliest_time_of(batch), self.earliest_time_of(batch.next)

    def is_edge(self, time: datetime) -> bool:
        """Whether a batch begins just then."""
        return self.earliest_time_of(self.batch_of(time)) == in_utc(time)

    def cover(self, start: datetime, end: datetime) -> BatchRange:
        """The batches that hold some of what lies from `start` to just before `end`."""
        if in_utc(start) >= in_utc(end):
            return BatchRange(self.batch_of(start), self.batch_of(start))
        last = self.batch_of(end)
        return BatchRange(self.batch_of(start), last if self.is_edge(end) else last.next)

    def whole_in(self, start: datetime, end: datetime) -> BatchRange:
        """The batches all of which lies from `start` to just before `end`."""
        first = self.batch_of(start)
        first = first if self.is_edge(start) else first.next
        return BatchRange(first, max(first, self.batch_of(end)))

    def enclosing(self, batch: BatchID, of: Batcher) -> BatchRange:
        """The batches here that hold a batch `of` another batcher."""
        return self.cover(*of.interval_of(batch))

    def until(self, switch: datetime, then: Batcher) -> Batcher:
        """These batches before a moment, and others from it on; the numbers go on.

        Raises:
            QueryError: a batch of one of the two would be cut.
        """
        return CombinedBatcher(self, in_utc(switch), then)


@dataclass(frozen=True)
class FixedBatcher(Batcher):
    """Batches that are all as long as each other; batch 0 begins at 1970-01-01 00:00 UTC.

    Args:
        length: how long a batch is.

    Raises:
        QueryError: it has no length.
    """

    length: timedelta

    def __post_init__(self) -> None:
        if self.length <= timedelta(0):
            raise QueryError(f"a batch cannot be {self.length} long", instead="take a length above zero")

    def batch_of(self, time: datetime) -> BatchID:
        return BatchID((in_utc(time) - EPOCH) // self.length)

    def earliest_time_of(self, batch: BatchID) -> datetime:
        return EPOCH + batch.number * self.length

    def __str__(self) -> str:
        for name, unit in reversed(UNITS.items()):
            count, rest = divmod(self.length, unit)
            if not rest:
                return f"{count} {name}{'s' if count > 1 else ''}"
        return f"{self.length.total_seconds():.6f}".rstrip("0") + " seconds"


@dataclass(frozen=True)
class CalendarBatcher(Batcher):
    """Hours, days, weeks, months or years as a place has them. Weeks begin on Monday, and batch 0 is that of 1970-01-01.

    A day in which the clocks change has 23 or 25 hours, and one that a place has skipped is a batch without time. An hour has sixty
    minutes, and begins at the minute at which one began there in 1970.

    Args:
        unit: hour, day, week, month or year.
        zone: a place of the time zone database.

    Raises:
        QueryError: there is no such unit or zone.
    """

    unit: str
    zone: str = "UTC"

    def __post_init__(self) -> None:
        if self.unit not in CALENDAR:
            raise QueryError(f"the calendar has no '{self.unit}'", instead=f"take one of {', '.join(CALENDAR)}")
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise QueryError(
                f"there is no time zone '{self.zone}'", instead="write one such as Europe/Vienna"
            ) from None

    def batch_of(self, time: datetime) -> BatchID:
        utc = in_utc(time)
        if self.unit == "hour":
            return BatchID((utc - self._first_hour) // HOUR)
        found = BatchID(self._number(utc.replace(tzinfo=UTC).astimezone(ZoneInfo(self.zone)).date()))
        while utc < self.earliest_time_of(found):  # where clocks were turned back across midnight
            found = found.prev
        while utc >= self.earliest_time_of(found.next):
            found = found.next
        return found

    def earliest_time_of(self, batch: BatchID) -> datetime:
        if self.unit == "hour":
            return self._first_hour + batch.number * HOUR
        first = self._first_day(batch.number)
        return in_utc(datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(self.zone)))

    @property
    def _first_hour(self) -> datetime:
        offset = EPOCH.replace(tzinfo=UTC).astimezone(ZoneInfo(self.zone)).utcoffset() or timedelta(0)
        return EPOCH - offset % HOUR

    def _number(self, day: date) -> int:
        match self.unit:
            case "day":
                return day.toordinal() - EPOCH.toordinal()
            case "week":
                return (day.toordinal() - EPOCH.toordinal() + EPOCH.weekday()) // 7
            case "month":
                return (day.year - EPOCH.year) * 12 + day.month - 1
        return day.year - EPOCH.year

    def _first_day(self, number: int) -> date:
        match self.unit:
            case "day":
                return EPOCH.date() + timedelta(days=number)
            case "week":
                return EPOCH.date() + timedelta(days=7 * number - EPOCH.weekday())
            case "month":
                return _date(EPOCH.year + number // 12, number % 12 + 1)
        return _date(EPOCH.year + number, 1)

    def __str__(self) -> str:
        return self.unit if self.zone == "UTC" else f"{self.unit} {self.zone}"


def _date(year: int, month: int) -> date:
    try:
        return date(year, month, 1)
    except ValueError as error:
        raise OverflowError(str(error)) from None


@dataclass(frozen=True)
class CombinedBatcher(Batcher):
    """The batches of one batcher before a moment, and those of another from it on, whose numbers go on; see `Batcher.until`."""

    before: Batcher
    switch: datetime
    after: Batcher

    def __post_init__(self) -> None:
        for batcher in (self.before, self.after):
            if not batcher.is_edge(self.switch):
                start, end = batcher.interval_of(batcher.batch_of(self.switch))
                raise QueryError(
                    f"at {self.switch} no batch of '{batcher}' begins, so one would be cut",
                    instead=f"switch at {start} or {end}",
                )

    @property
    def _shift(self) -> int:
        return self.before.batch_of(self.switch) - self.after.batch_of(self.switch)

    def batch_of(self, time: datetime) -> BatchID:
        return self.before.batch_of(time) if in_utc(time) < self.switch else self.after.batch_of(time) + self._shift

    def earliest_time_of(self, batch: BatchID) -> datetime:
        if batch < self.before.batch_of(self.switch):
            return self.before.earliest_time_of(batch)
        return self.after.earliest_time_of(batch - self._shift)

    def __str__(self) -> str:
        return f"{self.before} until {self.switch.isoformat()} then {self.after}"


def in_utc(time: datetime) -> datetime:
    """The same moment in UTC, without a zone."""
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


def parse_batcher(text: str) -> Batcher:
    """The batcher that a text says, as an option of SQL does: '6 hours', 'day Europe/Vienna', 'day until 2024-03-01 then 1 hour'.

    Raises:
        QueryError: it says none.
    """
    combined = re.fullmatch(r"(.+?) until (\S+) then (.+)", text.strip(), re.I)
    if combined:
        first, switch, then = combined.groups()
        return parse_batcher(first).until(_moment(text, switch), parse_batcher(then))
    fixed = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?) ([a-z]+?)s?", text.strip(), re.I)
    if fixed and fixed[2].lower() in UNITS:
        return FixedBatcher(float(fixed[1]) * UNITS[fixed[2].lower()])
    unit, _, zone = text.strip().partition(" ")
    if unit.lower() in CALENDAR:
        return CalendarBatcher(unit.lower(), zone.strip() or "UTC")
    raise QueryError(f"'{text}' says no batches", instead=f"write {_SPELLINGS}")


def _moment(text: str, switch: str) -> datetime:
    try:
        return in_utc(datetime.fromisoformat(switch))
    except ValueError:
        raise QueryError(f"'{text}' switches at '{switch}', which is no time", instead="write 2024-03-01") from None
