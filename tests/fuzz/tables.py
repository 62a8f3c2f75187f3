"""Random tables: awkward values of every type, in files of every format, a little out of order in time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.type_names import read_type
from ouzel.compiler.types import to_polars

DELAY_S = 10
"""How much event time may be out of order."""

NULLS = 0.12
EPOCH = dt.datetime(1970, 1, 1)
NAN, INF = float("nan"), float("inf")

TEXTS = (
    "",
    " ",
    "a",
    "A",
    "ab",
    "abc",
    "it's",
    "100%",
    "a_b",
    "naïve",
    "日本語",
    "🐦 ouzel",
    "12",
    " 7 ",
    "-3.5",
    "1e2",
    "true",
    "NULL",
    "2024-02-29",
    "1969-12-31 23:59:59.5",
    "x,y",
    '"q"',
    "back\\slash",
    "ß",
    "İ",
    "e\u0301",
    "null",
    "NaN",
    "tab\tend",
)
WHOLE = {
    "TINYINT": 7,
    "SMALLINT": 15,
    "INT": 31,
    "BIGINT": 63,
}


@dataclass(frozen=True)
class Table:
    """A table as SQL declares it: its name and its columns with their types."""

    name: str
    columns: tuple[tuple[str, str], ...]
    time: str | None
    statement: str


def draw(kind: str, dice: Random) -> Any:
    """A value of the type, often an edge, sometimes NULL."""
    if dice.random() < NULLS:
        return None
    if kind in WHOLE:
        limit = 2 ** WHOLE[kind]
        return dice.choice([dice.randrange(-5, 6), dice.randrange(-5, 6), dice.randrange(100), 0, limit - 1, -limit])
    if kind.startswith("DECIMAL"):
        precision, scale = map(int, kind.removeprefix("DECIMAL(").rstrip(")").split(","))
        most = 10**precision - 1
        return Decimal(dice.choice([0, 1, -1, 150, -250, dice.randrange(-9999, 9999), most, -most])).scaleb(-scale)
    return DRAWS[kind](dice)


def _stamp(dice: Random) -> dt.datetime:
    micros = dice.choice(
        [0, 1, -1, -1_000_001, 951_827_696_789_001, dice.randrange(-(10**15), 2 * 10**15), 1_709_164_800_000_000]
    )
    return EPOCH + dt.timedelta(microseconds=micros)


def _double(dice: Random) -> float:
    return dice.choice([0.0, -0.0, 1.5, -2.25, NAN, INF, -INF, round(dice.gauss(0, 50), 3), dice.gauss(0, 1), 1e-7])


DRAWS: dict[str, Callable[[Random], Any]] = {
    "BOOLEAN": lambda dice: dice.random() < 0.5,
    "DOUBLE": _double,
    "FLOAT": lambda dice: dice.choice([0.0, -0.0, 1.5, -0.25, NAN, INF, float(dice.randrange(-99, 99)) / 4]),
    "STRING": lambda dice: dice.choice(TEXTS),
    "BYTES": lambda dice: dice.choice([b"", b"\x00\xff", b"abc", "é".encode(), b"12"]),
    "DATE": lambda dice: (
        dt.date(1970, 1, 1) + dt.timedelta(dice.choice([0, -1, 18321, 19782, dice.randrange(-30000, 40000)]))
    ),
    "TIMESTAMP": _stamp,
    "TIMESTAMP_LTZ": lambda dice: _stamp(dice).replace(tzinfo=dt.UTC),
    "ARRAY<INT>": lambda dice: [draw("INT", dice) for _ in range(dice.randrange(4))],
    "ARRAY<STRING>": lambda dice: [draw("STRING", dice) for _ in range(dice.randrange(4))],
    "ROW<a INT, b STRING>": lambda dice: {"a": draw("INT", dice), "b": draw("STRING", dice)},
    "ARRAY<ROW<p INT, q STRING>>": lambda dice: [
        {"p": draw("INT", dice), "q": draw("STRING", dice)} for _ in range(dice.randrange(3))
    ],
}

KINDS = (
    *WHOLE,
    "DECIMAL(10, 2)",
    "DECIMAL(38, 10)",
    "DECIMAL(18, 0)",
    "BOOLEAN",
    "DOUBLE",
    "FLOAT",
    "STRING",
    "STRING",
    "BYTES",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "ARRAY<INT>",
    "ARRAY<STRING>",
    "ROW<a INT, b STRING>",
    "ARRAY<ROW<p INT, q STRING>>",
)


def write_tables(directory: Path, dice: Random) -> tuple[Table, ...]:
    """Two random tables with event time and one without, their files in `directory`."""
    return tuple(_write(directory, name, dice, timed) for name, timed in (("s", True), ("t", True), ("u", False)))


def _write(directory: Path, name: str, dice: Random, timed: bool) -> Table:
    kinds = ["INT", "STRING", *dice.sample(KINDS, 8)]
    columns = [(f"{name}{number}", kind) for number, kind in enumerate(kinds)]
    rows = dice.choice([0, 1, 40, 90, 150])
    values = {column: [_common(kind, dice) for _ in range(rows)] for column, kind in columns}
    if timed:
        columns.append(("ts", "TIMESTAMP"))
        values["ts"] = _times(rows, dice)
    frame = pl.DataFrame({column: _series(column, kind, values[column]) for column, kind in columns})
    parts = dice.randint(1, 3)
    for number in range(parts):
        frame[number::parts].write_parquet(directory / f"{name}-{number}.parquet")
    declared = ", ".join(f"{column} {kind}" for column, kind in columns)
    mark = f", WATERMARK FOR ts AS ts - INTERVAL '{DELAY_S}' SECOND" if timed else ""
    options = f"'connector' = 'file', 'path' = '{name}-*.parquet', 'format' = 'parquet'"
    statement = f"CREATE TABLE {name} ({declared}{mark}) WITH ({options});"
    return Table(name, tuple(columns), "ts" if timed else None, statement)


def _common(kind: str, dice: Random) -> Any:
    """Often one of few values, so that groups have several rows."""
    return draw(kind, Random(dice.randrange(4))) if dice.random() < 0.4 else draw(kind, dice)


def _times(rows: int, dice: Random) -> list[dt.datetime]:
    start = dice.choice([dt.datetime(1969, 12, 31, 23, 58), dt.datetime(2024, 2, 28, 23, 50), dt.datetime(1900, 1, 1)])
    step = dice.choice([1_000_003, 7_000_000, 500_001])
    return [
        start + dt.timedelta(microseconds=step * number - dice.randrange(DELAY_S * 10**6 - step))
        for number in range(rows)
    ]


def _series(name: str, kind: str, values: list[Any]) -> pl.Series:
    written = QueryText(kind)
    return pl.Series(name, values, to_polars(read_type(written, written.tokens())), strict=False)
