"""What each class takes, to the microsecond and to the last row: two answers made by hand, compared and classified in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import EmitRule, RowTime
from ouzel.compiler.types import BIGINT, DOUBLE, INT, TIMESTAMP, VARCHAR, DecimalType, Field, Schema
from ouzel.reconcile.comparing.comparison import compare
from ouzel.reconcile.comparing.lineage import CARRIED, Direction, Joined, Lineage, Padded
from ouzel.reconcile.explaining.classes import Class, Evidence
from ouzel.reconcile.explaining.classification import CLASS, classify
from ouzel.reconcile.explaining.late import DROPPED, GROUP, LATE_ROWS, LOOSE
from ouzel.reconcile.recording.record import Loss

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark]

Row = dict[str, Any]
EPOCH = datetime(1970, 1, 1)
SINCE, UNTIL, WIDE = 5_000, 9_000, 1_000
"""Microseconds: when the state was last heard of, how far was read when it died, and how long windows are."""

COLUMNS = Schema(
    (
        Field("k", VARCHAR), Field("n", BIGINT), Field("flown", BIGINT), Field("worst", INT), Field("best", INT),
        Field("total", BIGINT), Field("cents", DecimalType(10, 2)), Field("miles", DOUBLE), Field("mean", DOUBLE),
    )
)  # fmt: skip
DIRECTIONS = {
    "n": Direction.ROWS, "flown": Direction.COUNT, "worst": Direction.RISING, "best": Direction.FALLING,
    "total": Direction.SUM, "cents": Direction.SUM, "miles": Direction.SUM, "mean": Direction.FREE,
}  # fmt: skip
WINDOWS = Lineage(
    COLUMNS, ("k",), None, DIRECTIONS, carried=Schema((Field("k", VARCHAR), Field("end", TIMESTAMP))), window_end="end",
    single=True, window_us=WIDE, emit=EmitRule.WATERMARK,
)  # fmt: skip
CHANGES = replace(WINDOWS, carried=Schema((Field("k", VARCHAR),)), window_end=None, window_us=0, emit=EmitRule.CHANGES)
WHOLE: Row = {
    "n": 10, "flown": 8, "worst": 50, "best": -5, "total": 100, "cents": 100, "miles": 7.5, "mean": 5.0,
}  # fmt: skip
OPEN_AT = 7_000


def at(us: int) -> datetime:
    """A time."""
    return EPOCH + timedelta(microseconds=us)


def table(spark: SparkSession, rows: Iterable[Row], schema: Schema, carried: Schema = Schema(())) -> DataFrame:
    """Rows by name, with what is carried behind them."""
    names = [*schema.names, *(f"{CARRIED}{name}" for name in carried.names)]
    ddl = ", ".join(
        f"{name} {to_spark_type(field.type)}" for name, field in zip(names, (*schema, *carried), strict=True)
    )
    from decimal import Decimal

    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    def value(row: Row, name: str) -> Any:
        found = row.get(name)
        return Decimal(found).scaleb(-2) if name == "cents" and found is not None else found

    kinds = StructType.fromDDL(ddl)
    lines = [{name: value(row, name) for name in names} for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(lines, to_arrow_schema(kinds, timezone="UTC")), kinds)


def judged(
    spark: SparkSession, facts: Lineage, proof: Evidence, stream: Iterable[Row], batch: Iterable[Row], **more: Any
) -> Mapping[str, list[Class]]:
    """The classes of the differences of each key."""
    ours, theirs = table(spark, stream, facts.columns), table(spark, batch, facts.columns, facts.carried)
    rows = classify(compare(ours, theirs, facts, 1e-9).differences, facts, proof, **more)
    name = f"c{facts.columns.names.index('k')}"
    classes: dict[str, list[Class]] = {}
    for key, kind in rows.selectExpr(f"coalesce(stream.{name}, batch.{name})", CLASS).collect():
        classes.setdefault(key, []).append(Class(kind))
    return {key: sorted(kinds, key=list(Class).index) for key, kinds in classes.items()}


Change = Callable[[Row], Sequence[Row]]


def by(**moved: float | None) -> Change:
    """The row with something added to some values, or NULL in them."""
    return lambda row: [{**row, **{name: None if of is None else row[name] + of for name, of in moved.items()}}]


def gone(row: Row) -> Sequence[Row]:
    """No row."""
    return []


def both(*changes: Change) -> Change:
    """The rows of each."""
    return lambda row: [made for change in changes for made in change(row)]


LOSS = (Loss("c", 0, 1, SINCE, UNTIL),)
LOST, DIFFERS, MISSING, MORE = [Class.LOST], [Class.VALUE_DIFFERS], [Class.ONLY_BATCH], [Class.ONLY_STREAM]
INSIDE = SINCE + WIDE
OF_WINDOWS: Mapping[str, tuple[int, Change, list[Class]]] = {
    "as it is": (INSIDE, by(), []),
    "fewer": (INSIDE, by(n=-1), LOST),
    "fewer of one count": (INSIDE, by(flown=-1), DIFFERS),
    "fewer, and more of the other": (INSIDE, by(n=-1, flown=1), DIFFERS),
    "more": (INSIDE, by(n=1), DIFFERS),
    "none": (INSIDE, gone, LOST),
    "fewer, with the values": (INSIDE, by(n=-1, worst=-9, best=9, total=5, cents=-3, miles=-1, mean=2), LOST),
    "fewer, of no values": (INSIDE, by(n=-8, flown=-8, worst=None, best=None, total=None), LOST),
    "fewer, and a greater one": (INSIDE, by(n=-1, worst=1), DIFFERS),
    "fewer, and a less one": (INSIDE, by(n=-1, best=-1), DIFFERS),
    "a sum alone": (INSIDE, by(total=-1), DIFFERS),
    "a mean alone": (INSIDE, by(mean=1), DIFFERS),
    "a greatest alone": (INSIDE, by(worst=-1), DIFFERS),
    "digits": (INSIDE, by(miles=1e-12), [Class.FLOAT]),
    "more than digits": (INSIDE, by(miles=1e-6), DIFFERS),
    "too many": (INSIDE, both(by(), by(n=-1)), MORE),
    "in the result": (SINCE + 1, by(n=-1), DIFFERS),
    "not quite in the result": (SINCE + 2, by(n=-1), LOST),
    "begun": (UNTIL + WIDE, by(n=-1), LOST),
    "not begun": (UNTIL + WIDE + 1, by(n=-1), DIFFERS),
}
"""The end of a group's window, what the stream has of it, and what is found."""


def test_windows_lose_what_was_in_them(one_partition: SparkSession) -> None:
    batch = [
        {**WHOLE, "k": name, f"{CARRIED}k": name, f"{CARRIED}end": at(end)} for name, (end, *_) in OF_WINDOWS.items()
    ]
    stream = [row for whole in batch for row in OF_WINDOWS[whole["k"]][1](whole)]
    found = judged(one_partition, WINDOWS, Evidence(LOSS), stream, batch)
    assert found == {name: kinds for name, (*_, kinds) in OF_WINDOWS.items() if kinds}


OF_SESSIONS: Mapping[str, tuple[int, int, list[Class]]] = {
    "over before it died": (SINCE - WIDE, SINCE + 1, MISSING),
    "open when it died": (SINCE - WIDE, UNTIL + WIDE, LOST),
    "begun as the last row was read": (UNTIL, UNTIL + 3 * WIDE, LOST),
    "begun later": (UNTIL + 1, UNTIL + WIDE, MISSING),
}
"""Where a group's session begins and ends, and what is found if it is missing."""


@pytest.mark.parametrize("has_start", [True, False])
def test_a_session_is_lost_that_was_open_however_long_it_goes_on(has_start: bool, one_partition: SparkSession) -> None:
    keys = [Field("k", VARCHAR), *([Field("start", TIMESTAMP)] if has_start else []), Field("end", TIMESTAMP)]
    sessions = replace(WINDOWS, window_us=0, window_start="start" if has_start else None, carried=Schema(tuple(keys)))
    batch = [
        {**WHOLE, "k": name, f"{CARRIED}k": name, f"{CARRIED}start": at(start), f"{CARRIED}end": at(end)}
        for name, (start, end, _) in OF_SESSIONS.items()
    ]
    found = judged(one_partition, sessions, Evidence(LOSS), [], batch)
    unsure = {} if has_start else {"begun later": LOST}
    assert found == {**{name: kinds for name, (*_, kinds) in OF_SESSIONS.items()}, **unsure}


OF_OPEN: Mapping[str, tuple[int, Change, list[Class], list[Class]]] = {
    "closed": (OPEN_AT + 1, gone, MISSING, MISSING),
    "open": (OPEN_AT + 2, gone, [Class.IN_FLIGHT], [Class.IN_FLIGHT]),
    "open, in part": (OPEN_AT + 2, by(n=-1, total=-3), DIFFERS, [Class.IN_FLIGHT]),
    "open, too much": (OPEN_AT + 2, by(n=1), DIFFERS, DIFFERS),
    "open, besides": (OPEN_AT + 2, both(by(), by(n=-1)), MORE, MORE),
    "open, digits": (OPEN_AT + 2, by(miles=1e-12), [Class.FLOAT], [Class.FLOAT]),
}


@pytest.mark.parametrize("emit", [EmitRule.WATERMARK, EmitRule.CHANGES])
def test_windows_that_were_open_have_told_nothing_or_in_part(emit: EmitRule, one_partition: SparkSession) -> None:
    batch = [{**WHOLE, "k": name, f"{CARRIED}k": name, f"{CARRIED}end": at(end)} for name, (end, *_) in OF_OPEN.items()]
    stream = [row for whole in batch for row in OF_OPEN[whole["k"]][1](whole)]
    found = judged(one_partition, replace(WINDOWS, emit=emit), Evidence(closed_us=OPEN_AT), stream, batch)
    assert found == {name: of[emit is EmitRule.CHANGES] for name, (_, _, *of) in OF_OPEN.items()}


FIRST: Row = {"n": 3, "flown": 2, "worst": 20, "best": -1, "total": 30, "cents": 1, "miles": 0.1, "mean": 1.0}
SECOND: Row = {"n": 7, "flown": 6, "worst": 50, "best": -5, "total": 70, "cents": 99, "miles": 7.4, "mean": 6.0}


def parts(**moved: float | None) -> Change:
    """The group in two rows, with something added to the second."""
    return lambda row: [{**row, **FIRST}, *by(**moved)({**row, **SECOND})]


OF_CHANGES: Mapping[str, tuple[Change, list[Class]]] = {
    "apart": (parts(), LOST * 2),
    "apart, digits": (parts(miles=1e-12), LOST * 2),
    "apart, miles": (parts(miles=0.1), [*DIFFERS, *MORE]),
    "apart, cents": (parts(cents=1), [*DIFFERS, *MORE]),
    "apart, total": (parts(total=-1), [*DIFFERS, *MORE]),
    "apart, no cents": (lambda row: [{**part, "cents": None} for part in parts()(row)], [*DIFFERS, *MORE]),
    "apart, worst": (parts(worst=-1), [*DIFFERS, *MORE]),
    "apart, best": (parts(best=1), [*DIFFERS, *MORE]),
    "apart, one less": (parts(n=-1), [*DIFFERS, *MORE]),
    "apart, one flown less": (parts(flown=-1), [*DIFFERS, *MORE]),
    "apart, sent again": (parts(n=3, flown=2, total=9, miles=1), LOST * 2),
    "in three": (both(parts(), by(n=-9, flown=-8)), [*DIFFERS, *MORE, *MORE]),
    "all of it, and a part": (both(by(), by(n=-9, flown=-7, worst=-1)), LOST),
    "one alone": (by(n=-1), DIFFERS),
    "none": (gone, MISSING),
}


def of_changes(names: Iterable[str]) -> tuple[list[Row], list[Row]]:
    """The stream's rows and the batch's."""
    batch = [{**WHOLE, "k": name, f"{CARRIED}k": name} for name in names]
    return [row for whole in batch for row in OF_CHANGES[whole["k"]][0](whole)], batch


def test_what_was_told_of_adds_up(one_partition: SparkSession) -> None:
    found = judged(one_partition, CHANGES, Evidence(LOSS, sent_again=12), *of_changes(OF_CHANGES))
    assert found == {name: sorted(kinds, key=list(Class).index) for name, (_, kinds) in OF_CHANGES.items()}


def test_a_part_told_besides_the_whole_of_a_window_is_lost_if_the_window_was_open(one_partition: SparkSession) -> None:
    ends = {"open": INSIDE, "in the result": SINCE + 1}
    batch = [{**WHOLE, "k": name, f"{CARRIED}k": name, f"{CARRIED}end": at(end)} for name, end in ends.items()]
    stream = [row for whole in batch for row in OF_CHANGES["all of it, and a part"][0](whole)]
    facts = replace(WINDOWS, emit=EmitRule.CHANGES)
    assert judged(one_partition, facts, Evidence(LOSS, sent_again=12), stream, batch) == {
        "open": LOST,
        "in the result": MORE,
    }


def test_what_was_to_be_told_later_is_lost_too(one_partition: SparkSession) -> None:
    """EMIT AFTER DELAY: the group's rows stand apart, or lack what was not told yet; nothing says that they add up."""
    names = ["apart", "apart, total", "one alone", "none", "in three", "all of it, and a part"]
    facts = replace(CHANGES, emit=EmitRule.DELAY)
    lost = {"apart": LOST * 2, "apart, total": LOST * 2, "one alone": LOST, "none": LOST, "all of it, and a part": LOST}
    found = judged(one_partition, facts, Evidence(LOSS, sent_again=12), *of_changes(names))
    assert found == {**lost, "in three": [*LOST, *MORE, *MORE]}


def test_all_groups_together_count_no_more_twice_than_was_sent_again(one_partition: SparkSession) -> None:
    stream, batch = of_changes(["apart, sent again"])
    more = [[{**row, "k": name, **({f"{CARRIED}k": name} if f"{CARRIED}k" in row else {})} for row in rows]
            for rows in (stream, batch) for name in ("other",)]  # fmt: skip
    apart = {"apart, sent again": [*DIFFERS, *MORE], "other": [*DIFFERS, *MORE]}
    for again, found in ((5, apart), (6, dict.fromkeys(apart, LOST * 2))):
        assert judged(one_partition, CHANGES, Evidence(LOSS, again), stream + more[0], batch + more[1]) == found


@pytest.mark.parametrize(
    ("again", "single", "kinds"),
    [(2, True, [*DIFFERS, *MORE]), (3, True, LOST * 2), (None, True, LOST * 2), (2, False, LOST * 2), (0, False, [*DIFFERS, *MORE])],
)  # fmt: skip
def test_no_more_counts_twice_than_was_sent_again(
    again: int | None, single: bool, kinds: list[Class], one_partition: SparkSession
) -> None:
    facts = replace(CHANGES, single=single)
    assert judged(one_partition, facts, Evidence(LOSS, again), *of_changes(["apart, sent again"])) == {
        "apart, sent again": kinds
    }


JOINED = Schema((Field("k", VARCHAR), Field("id", BIGINT), Field("city", VARCHAR)))
MATCHES = Lineage(
    JOINED, carried=Schema((Field("code", VARCHAR), Field("a", TIMESTAMP), Field("b", TIMESTAMP))),
    joined=Joined(("code",), (Padded(("city",), ("k", "id")),), (RowTime("a"), RowTime("b", -100))),
)  # fmt: skip
ALONE: Change = lambda row: [{**row, "city": None}]  # noqa: E731
OF_JOINS: Mapping[str, tuple[int, int, Change, list[Class]]] = {
    "as it is": (SINCE, SINCE, by(), []),
    "a match": (SINCE, UNTIL, gone, LOST),
    "both were there": (SINCE, SINCE + 100, gone, MISSING),
    "one was not": (SINCE + 1, SINCE - 900, gone, LOST),
    "the other was not": (SINCE - 900, SINCE + 101, gone, LOST),
    "one had come": (UNTIL, UNTIL + 900, gone, LOST),
    "the other had come": (UNTIL + 900, UNTIL + 100, gone, LOST),
    "none had come": (UNTIL + 1, UNTIL + 101, gone, MISSING),
    "alone": (SINCE, UNTIL, ALONE, LOST * 2),
    "alone twice": (SINCE, UNTIL, both(ALONE, ALONE), [*LOST * 2, *MORE]),
    "alone besides": (SINCE, UNTIL, both(by(), ALONE), MORE),
    "alone, of another": (SINCE, UNTIL, lambda row: [{**row, "id": 7, "city": None}], [*LOST, *MORE]),
    "another": (SINCE, UNTIL, by(id=1), [*LOST, *MORE]),
}


def test_matches_are_lost_whose_rows_came_before_and_after(one_partition: SparkSession) -> None:
    batch = [
        {"k": name, "id": 1, "city": "Rome", f"{CARRIED}code": "x", f"{CARRIED}a": at(a), f"{CARRIED}b": at(b)}
        for name, (a, b, *_) in OF_JOINS.items()
    ]
    batch.append({"k": "no match", "id": 1, "city": None})
    stream = [row for whole in batch[:-1] for row in OF_JOINS[whole["k"]][2](whole)]
    found = judged(one_partition, MATCHES, Evidence(LOSS), stream, batch)
    assert found == {name: kinds for name, (*_, kinds) in OF_JOINS.items() if kinds} | {"no match": MISSING}


def test_a_row_without_a_match_is_paired_with_it_where_only_floats_tell_them_apart(one_partition: SparkSession) -> None:
    columns = Schema((*JOINED.select(("k", "id")), Field("height", DOUBLE)))
    padded = replace(MATCHES.joined, padded=(Padded(("height",), ("k", "id")),))  # type: ignore[type-var]
    rows: Mapping[str, tuple[int, float | None, float | None, list[Class]]] = {
        "alone": (UNTIL, 1.5, None, LOST),
        "alone, and both were there": (SINCE, 1.5, None, DIFFERS),
        "another": (UNTIL, 1.5, 2.5, DIFFERS),
        "a match of nothing": (UNTIL, None, 2.5, DIFFERS),
    }
    batch = [
        {
            "k": name,
            "id": 1,
            "height": there,
            f"{CARRIED}code": "x" if there else None,
            f"{CARRIED}a": at(SINCE),
            f"{CARRIED}b": at(b),
        }
        for name, (b, there, *_) in rows.items()
    ]
    stream = [{**whole, "height": rows[whole["k"]][2]} for whole in batch]
    found = judged(one_partition, replace(MATCHES, columns=columns, joined=padded), Evidence(LOSS), stream, batch)
    assert found == {name: kinds for name, (*_, kinds) in rows.items()}


def test_rows_that_are_only_counted_as_late_explain_no_more(one_partition: SparkSession) -> None:
    of = {
        "two": by(n=-2, flown=-1),
        "three": by(n=-3),
        "none": gone,
        "more": by(n=1),
        "exact": by(n=-1),
        "another": by(n=-1),
    }
    batch = [{**WHOLE, "k": name, "n": 2 if name == "none" else 10, "flown": 2, f"{CARRIED}k": name} for name in of]
    groups = one_partition.createDataFrame(
        [(name, 2, name != "exact", []) for name in of if name != "another"],
        f"{GROUP}k string, {LATE_ROWS} int, {LOOSE} boolean, {DROPPED} array<string>",
    )
    stream = [row for whole in batch for row in of[whole["k"]](whole)]
    found = judged(one_partition, CHANGES, Evidence(), stream, batch, groups=groups)
    late = [Class.LATE]
    assert found == {"two": late, "three": DIFFERS, "none": late, "more": DIFFERS, "exact": DIFFERS, "another": DIFFERS}
