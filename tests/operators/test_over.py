"""OVER: whatever comes in whatever order, what leaves adds up to what a plain loop over all rows says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from ouzel.compiler.functions.aggregates import resolve_aggregate
from ouzel.compiler.plan import FrameKind, Over, OverCall, SortKey, WindowFrame
from ouzel.compiler.plan.over import FUNCTIONS, PICKS, RANKS, SHIFTS, UP_TO_PEERS, WHOLE
from ouzel.compiler.types import BIGINT, DOUBLE, TIMESTAMP, VARCHAR
from tests.effort import seeds
from tests.operators.nodes import table
from tests.operators.tasks import Row, Tasks

EPOCH, MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
NAMES = ("k", "t", "v", "s")


def call(
    function: str,
    argument: str | None = None,
    frame: WindowFrame = UP_TO_PEERS,
    number: int = 0,
    default: str | None = None,
) -> OverCall:
    kinds = {"v": BIGINT, "s": VARCHAR, "t": TIMESTAMP}
    if function in FUNCTIONS:
        kind = (
            (DOUBLE if function in ("percent_rank", "cume_dist") else BIGINT)
            if function in RANKS
            else kinds[argument or ""]
        )
    else:
        kind = resolve_aggregate(function, kinds[argument] if argument else None).result
    name = f"{function}({argument},{number}) {frame}"
    return OverCall(name, function, argument, kind, WHOLE if function in RANKS | SHIFTS else frame, number, default)


def frames(random: Random, kinds: Sequence[FrameKind], latest: int = 3) -> WindowFrame:
    kind = random.choice(kinds)
    start, end = random.choice([None, -3, -1, 0, 2]), random.choice([None, -2, 0, 1, 3])
    if end is None or end > latest:
        end = None if latest == 3 else latest
    if start is not None and end is not None and start > end:
        start, end = end, start
    return WindowFrame(kind, start, end)


def drawn_calls(random: Random) -> tuple[OverCall, ...]:
    some: list[OverCall] = [call(name, number=3 if name == "ntile" else 0) for name in sorted(RANKS)]
    some += [call("lag", "v", number=random.randint(0, 3)), call("lead", "s", number=2, default="s")]
    for name in ("first_value", "last_value", "nth_value"):
        some.append(call(name, random.choice("vs"), frames(random, list(FrameKind)), 2 if name == "nth_value" else 0))
    for name, argument in (("count", None), ("count", "v"), ("sum", "v"), ("avg", "v"), ("min", "s"), ("max", "v")):
        some.append(call(name, argument, frames(random, list(FrameKind))))
    return tuple({each.name: each for each in random.sample(some, 6)}.values())


def ordered(rows: Sequence[Row], keys: Sequence[SortKey]) -> list[Row]:
    """By plain Python: sorted by the last key first."""
    rows = list(rows)
    for key in reversed(keys):
        place = NAMES.index(key.column)
        rows.sort(
            key=lambda row: (row[place] is not None, row[place] if row[place] is not None else 0),
            reverse=key.descending,
        )
        if (key.nulls_last) != key.descending:  # NULLs are least otherwise
            nulls = [row for row in rows if row[place] is None]
            others = [row for row in rows if row[place] is not None]
            rows = others + nulls if key.nulls_last else nulls + others
    return rows


def oracle(node: Over, rows: Counter[Row]) -> Counter[Row]:
    """Each call of each row by its definition."""
    out = Counter[Row]()
    every = [row for row, times in rows.items() for _ in range(times)]
    parts: dict[Row, list[Row]] = {}
    for row in every:
        parts.setdefault(tuple(row[NAMES.index(key)] for key in node.partition), []).append(row)
    for part in parts.values():
        part = ordered(part, node.sorted_by)
        keys = [tuple(row[NAMES.index(key.column)] for key in node.order) for row in part]
        groups = [0]
        for before, key in pairwise(keys):
            groups.append(groups[-1] + (key != before))
        for place, row in enumerate(part):
            out[(*row, *(value_of(each, part, place, groups, node) for each in node.calls))] += 1
    return out


def value_of(each: OverCall, part: list[Row], place: int, groups: list[int], node: Over) -> Any:
    peers = [other for other in range(len(part)) if groups[other] == groups[place]]
    match each.function:
        case "row_number":
            return place + 1
        case "rank":
            return peers[0] + 1
        case "dense_rank":
            return groups[place] + 1
        case "percent_rank":
            return peers[0] / (len(part) - 1) if len(part) > 1 else 0.0
        case "cume_dist":
            return (peers[-1] + 1) / len(part)
        case "ntile":
            size, more = divmod(len(part), each.number)
            sizes = [size + (bucket < more) for bucket in range(each.number)]
            return next(bucket + 1 for bucket in range(each.number) if place < sum(sizes[: bucket + 1]))
        case "lag" | "lead":
            other = place + each.number * (1 if each.function == "lead" else -1)
            return value(each.argument, part[other]) if 0 <= other < len(part) else value(each.default, part[place])
    seen = [part[other] for other in framed(each.frame, part, place, groups, node)]
    values = [value(each.argument, row) for row in seen]
    if each.function in PICKS:
        at = {"first_value": 0, "last_value": len(values) - 1}.get(each.function, each.number - 1)
        return values[at] if 0 <= at < len(values) else None
    some = [one for one in values if one is not None] if each.argument else seen
    match each.function:
        case "count":
            return len(some)
        case "sum":
            return sum(some) if some else None
        case "avg":
            return sum(some) / len(some) if some else None
    return (min(some) if each.function == "min" else max(some)) if some else None


def value(name: str | None, row: Row) -> Any:
    return row[NAMES.index(name)] if name else None


def framed(frame: WindowFrame, part: list[Row], place: int, groups: list[int], node: Over) -> Iterator[int]:
    for other in range(len(part)):
        match frame.kind:
            case FrameKind.ROWS:
                distance: int | None = other - place
            case FrameKind.GROUPS:
                distance = groups[other] - groups[place]
            case FrameKind.RANGE:
                distance = apart(part[other], part[place], node.order)
                if distance is None and groups[other] == groups[place]:
                    yield other  # NULLs are in each other's frames, wherever these begin
                    continue
                if distance is None:  # a NULL is as far from a value as the order says
                    distance = 10**18 if other > place else -(10**18)
        if (frame.start is None or distance >= frame.start) and (frame.end is None or distance <= frame.end):
            yield other


def apart(one: Row, other: Row, order: Sequence[SortKey]) -> int | None:
    (key,) = order
    left, right = value(key.column, one), value(key.column, other)
    if left is None or right is None:
        return None
    distance = left - right if key.column == "v" else (left - right) // MICROSECOND
    return -distance if key.descending else distance


def drawn(random: Random, now: int, held: Counter[Row] | None) -> Iterator[tuple[Row, int]]:
    """Rows that come; and, of `held`, rows that are taken back."""
    for _ in range(random.randint(1, 8)):
        if held and random.random() < 0.4:
            yield random.choice(list(held)), -1
            continue
        time = EPOCH + (now + random.randint(0, 6)) * MICROSECOND
        yield (
            (random.choice(["x", "y", None]), time, random.choice([1, 2, 3, 5, None]), random.choice(["a", "b", None])),
            1,
        )


@pytest.mark.parametrize("keys", [("k",), ()], ids=["partitions", "one partition"])
def test_what_leaves_adds_up_to_what_a_loop_says(keys: tuple[str, ...]) -> None:
    for seed in seeds():
        random = Random(seed)
        order = (SortKey("v", random.random() < 0.5, random.random() < 0.5),)
        source = table(True, k=VARCHAR, t=TIMESTAMP, v=BIGINT, s=VARCHAR)
        ties = tuple(name for name in NAMES if name not in (*keys, "v"))
        node = Over(source, keys, order, ties, drawn_calls(random))
        tasks, held = Tasks(node), Counter[Row]()
        for _ in range(15):
            rows = list(drawn(random, 0, held))
            for row, weight in rows:
                held[row] += weight
            tasks.process(rows)
            if random.random() < 0.2:
                tasks.move(random.choice([0, 1, 2, 4]))
        owed = [(row, -times) for row, times in held.items() if times < 0]
        if owed:
            tasks.process(owed)
            held.update(dict(owed))
        assert close(+tasks.out, oracle(node, +held)), f"seed {seed}"
        assert not -tasks.out, f"seed {seed}: rows were taken back that had not been told"


AWKWARD = [1e17, -1e17, 3e8, -3e8, 0.1, -0.7, 1 / 3, 1e-9]
"""Numbers whose total depends on the order in which they are added up."""


@pytest.mark.parametrize("function", ["sum", "stddev_pop"])
def test_a_value_is_taken_back_as_it_was_told_to_the_last_digit(function: str) -> None:
    source = table(True, k=VARCHAR, t=BIGINT, v=DOUBLE)
    bounds = [
        WindowFrame(FrameKind.ROWS, -5, 0),
        WindowFrame(FrameKind.ROWS, -80, 3),
        WindowFrame(FrameKind.ROWS, None, 0),
        WHOLE,
    ]
    result = resolve_aggregate(function, DOUBLE).result
    calls = tuple(OverCall(str(frame), function, "v", result, frame) for frame in bounds)
    for seed in seeds():
        random = Random(seed)
        order = (SortKey("t"),) if random.random() < 0.8 else ()
        ties = ("v",) if order and random.random() < 0.8 else ()
        tasks, held = Tasks(Over(source, ("k",), order, ties, calls)), Counter[Row]()
        for _ in range(20):
            rows = [(random.choice("xy"), random.randint(0, 200), random.choice(AWKWARD)) for _ in range(10)]
            gone = list(set(random.choices(list(held), k=2))) if held else []
            held.update(rows)
            held.subtract(gone)
            held = +held
            tasks.process([*((row, 1) for row in rows), *((row, -1) for row in gone)])
            if random.random() < 0.1:
                tasks.move(random.choice([0, 1, 2]))
        assert not -tasks.out, f"seed {seed}: rows were taken back that had not been told"
        assert Counter(row[:3] for row in tasks.out.elements()) == held, f"seed {seed}"


@pytest.mark.parametrize("keys", [("k",), ()], ids=["partitions", "one partition"])
def test_rows_leave_once_when_time_has_passed_them(keys: tuple[str, ...]) -> None:
    for seed in seeds():
        random = Random(seed)
        backward = [
            WindowFrame(FrameKind.RANGE, None, 0),
            WindowFrame(FrameKind.ROWS, None, 0),
            WindowFrame(FrameKind.ROWS, -2, 0),
        ]
        backward += [
            WindowFrame(FrameKind.ROWS, -3, -1),
            WindowFrame(FrameKind.RANGE, -4, 0),
            WindowFrame(FrameKind.RANGE, -5, -2),
        ]
        calls = [call(name) for name in ("row_number", "rank", "dense_rank")] + [
            call("lag", "s", number=2, default="s")
        ]
        pairs = [
            ("sum", "v"),
            ("count", None),
            ("min", "s"),
            ("first_value", "v"),
            ("last_value", "s"),
            ("nth_value", "v"),
        ]
        calls += [
            call(name, argument, frame, 2 if name == "nth_value" else 0)
            for name, argument in pairs
            for frame in backward
        ]
        source = table(False, k=VARCHAR, t=TIMESTAMP, v=BIGINT, s=VARCHAR)
        ties = tuple(name for name in NAMES if name not in (*keys, "t"))
        node = Over(source, keys, (SortKey("t"),), ties, tuple(random.sample(calls, 8)), "t")
        tasks, held, now, late = Tasks(node), Counter[Row](), -1, 0
        for _ in range(15):
            rows = list(drawn(random, max(now - 2, 0), None))
            on_time = [row for row, _ in rows if row[1] > EPOCH + now * MICROSECOND]
            held.update(on_time)
            late += len(rows) - len(on_time)
            tasks.process(rows)
            if random.random() < 0.7:
                now += random.randint(0, 4)
                tasks.advance(now)
            if random.random() < 0.2:
                counted = sum(chain.late for chain in tasks.chains)
                tasks.move(random.choice([0, 1, 2, 4]))
                late -= counted if not sum(chain.late for chain in tasks.chains) else 0
        assert late == sum(chain.late for chain in tasks.chains), f"seed {seed}"
        tasks.advance((1 << 63) - 1)
        assert close(tasks.out, oracle(node, held)), f"seed {seed}"


def close(one: Counter[Row], other: Counter[Row]) -> bool:
    """Floats to nine digits."""
    return rounded(one) == rounded(other)


def rounded(rows: Counter[Row]) -> Counter[Row]:
    out = Counter[Row]()
    for row, times in rows.items():
        out[tuple(round(v, 9) if isinstance(v, float) else v for v in row)] += times
    return out
