"""Values as Python's own, also of times outside of the years 1 to 9999, which Python has none for: those are text, as Spark shows them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_DAY_US = 86_400_000_000


def python_values(column: pl.Series) -> list[Any]:
    """The column's values. Polars' own conversion stops at such a time, and near the ends of 64 bits ends the process."""
    if not _is_far(column):
        return column.to_list()
    return [_value(value, column.dtype) for value in column.cast(_counted(column.dtype)).to_list()]


def python_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The frame's rows, with their columns' names."""
    columns = [python_values(column) for column in frame.get_columns()]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _is_far(column: pl.Series) -> bool:
    """Whether it holds such a time."""
    kind = column.dtype
    if isinstance(kind, pl.Date | pl.Datetime):
        day = 1 if isinstance(kind, pl.Date) else _DAY_US
        low, high = column.to_physical().min(), column.to_physical().max()
        near = (
            day if isinstance(kind, pl.Datetime) and kind.time_zone else 0
        )  # clocks may show another day than that in UTC
        return low is not None and not (_FIRST_DAY * day + near <= low and high < (_LAST_DAY + 1) * day - near)  # type: ignore[operator]
    if isinstance(kind, pl.List):
        return _is_far(column.explode())
    return isinstance(kind, pl.Struct) and any(_is_far(column.struct.field(field.name)) for field in kind.fields)


def _counted(kind: pl.DataType) -> pl.DataType:
    """The type with times as numbers: days, or microseconds."""
    match kind:
        case pl.Date() | pl.Datetime():
            return pl.Int64()
        case pl.List():
            return pl.List(_counted(kind.inner))  # type: ignore[arg-type]
        case pl.Struct():
            return pl.Struct([pl.Field(field.name, _counted(field.dtype)) for field in kind.fields])  # type: ignore[arg-type]
    return kind


def _value(value: Any, kind: pl.DataType) -> Any:
    if value is None:
        return None
    match kind:
        case pl.Date():
            return _day(value)
        case pl.Datetime():
            return _moment(value, kind)
        case pl.List():
            return [_value(each, kind.inner) for each in value]  # type: ignore[arg-type]
        case pl.Struct():
            return {field.name: _value(value[field.name], field.dtype) for field in kind.fields}  # type: ignore[arg-type]
    return value


def _day(days: int) -> date | str:
    if _FIRST_DAY <= days <= _LAST_DAY:
        return date(1970, 1, 1) + timedelta(days)
    return "+" * (days > 0) + str(np.datetime64(days, "D"))


def _in_python(time: datetime, zone: str | None) -> datetime:
    """A UTC time as an instant of the zone; at the ends of the calendar, where its clocks show a year that Python has none for, of UTC."""
    if zone is None:
        return time
    instant = time.replace(tzinfo=UTC)
    try:
        return instant.astimezone(ZoneInfo(zone))
    except OverflowError:
        return instant


def _moment(time_us: int, kind: pl.Datetime) -> datetime | str:
    days, past_us = divmod(time_us, _DAY_US)
    day = _day(days)
    if isinstance(day, date):
        return _in_python(datetime(1970, 1, 1) + timedelta(microseconds=time_us), kind.time_zone)
    time = (datetime.min + timedelta(microseconds=past_us)).time()
    return f"{day} {time.isoformat()}{'+00:00' if kind.time_zone else ''}"
