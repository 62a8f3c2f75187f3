"""Sums as they grow: each value with the total before it, in the order of event time."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from datetime import datetime
from typing import Any

from ouzel.compiler.coercion import cast_to
from ouzel.compiler.expressions import Column
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import AggregateCall, FrameKind, Node, Over, OverCall, Project, SortKey, WindowFrame
from ouzel.compiler.plan.over import WHOLE
from ouzel.compiler.records import KEY, VALUE
from ouzel.compiler.types import BIGINT
from ouzel.compiler.written import NodeLocation
from ouzel.dsl.in_python import order_key
from ouzel.dsl.producers import RunningSum
from ouzel.dsl.shapes import OfRecords, key_value
from ouzel.dsl.windows import TIME

_ADDED, _AFTER, _PLACE, _BEFORE = "$added", "$after", "$place", "$before"

SO_FAR = WindowFrame(FrameKind.ROWS, None, 0)
"""All up to a row, and the row."""


def running_nodes(values: Project, call: AggregateCall, added: Column, producer: RunningSum) -> Node:
    """Pairs of a key, and of its total before a value and the value, once the time has passed; `values` has key, value and time.

    Values of a key that happened at one moment go by their own order: so every run, and the batch job, adds them up alike.
    """
    given = Project(values.input, (*values.items, (_ADDED, added)))
    total = OverCall(_AFTER, call.function, VALUE, call.type, SO_FAR, row=call.row)
    place = OverCall(_PLACE, "row_number", None, BIGINT, WHOLE, nullable=False)
    written = NodeLocation(place=producer.place)
    totals = Over(given, (KEY,), (SortKey(TIME),), (VALUE,), (total, place), closes=TIME, written=written)
    former = OverCall(_BEFORE, "lag", _AFTER, call.type, WHOLE, number=1)
    both = Over(totals, (KEY,), (SortKey(TIME), SortKey(_PLACE)), (), (former,), closes=TIME, written=written)
    pair = resolve_call("row", [Column(call.type, _BEFORE), Column(added.type, _ADDED)])
    columns = {field.name: Column(field.type, field.name) for field in both.schema}
    return Project(
        both, ((KEY, columns[KEY]), (VALUE, cast_to(pair, producer.record.columns[1].type)), (TIME, columns[TIME]))
    )


def running_sums(
    monoid: OfRecords, pairs: Iterable[tuple[datetime, tuple[Any, Any]]]
) -> list[tuple[datetime, tuple[Any, tuple[Any, Any]]]]:
    """The same for single values."""
    dated = [(time, key, value) for time, (key, value) in pairs]
    totals: dict[Any, Any] = {}
    made = []
    for time, key, value in sorted(dated, key=lambda one: (one[0], one[2] is not None, order_key(one[2]))):
        known = key_value(key)
        before = deepcopy(monoid.present(totals[known])) if known in totals else None
        totals[known] = monoid.plus(totals.get(known, monoid.zero), monoid.prepare(value))
        made.append((time, (key, (before, value))))
    return made
