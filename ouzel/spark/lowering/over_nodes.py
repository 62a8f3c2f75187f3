"""OVER as PySpark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.plan import FrameKind, Over, OverCall, SortKey, TopN, WindowFrame
from ouzel.compiler.plan.over import LIFE, PEERS_ALIKE, PICKS, RANKS, SHIFTS, UP_TO_PEERS, WHOLE
from ouzel.compiler.types import BIGINT, DateType, TimestampType
from ouzel.errors import NotSupported
from ouzel.spark.lowering.aggregates import aggregate_call
from ouzel.spark.lowering.text import quote, with_columns

PEERS, PLACE, BEGINS, MEASURE = "$peers", "$place", "$begins", "$measure"
"""Columns that exist for a moment: the number of a row's group of peers, for frames that count those, which Spark has not; its place
in the whole order, by which the first of a frame is told that holds peers; the time of a row with which its key begins another life;
the order as a number, along which a RANGE is measured, where other calls are sorted by it too.
"""

UNBOUNDED_OFFSET = 2**63 - 1
"""What PySpark's rangeBetween takes for no bound at all."""


def lower_over(node: Over, names: Mapping[int, str]) -> list[str]:
    """The columns that a window adds."""
    lines = (
        [f".where(F.col({quote(column_name(node.closes))}).isNotNull())"] if node.in_time_order and node.closes else []
    )
    helpers = dict(_helpers(node))
    lines += [with_columns({name: text}) for name, text in helpers.items()]  # one reads what another made
    for _, calls in groupby(node.calls, lambda call: order_length(call, node)):
        lines.append(with_columns({call.name: _call(call, node) for call in calls}))
    return [*lines, f".drop({', '.join(map(quote, helpers))})"] if helpers else lines


def _helpers(node: Over) -> Iterator[tuple[str, str]]:
    """The longest order first: its sort serves the others."""
    if _shares_measure(node):
        yield MEASURE, _measure(node)
    if any(map(_picks_among_peers, node.calls)):
        yield PLACE, f"F.row_number().over({_window(node, _sort(node, node.sorted_by))})"
    if any(call.frame.kind is FrameKind.GROUPS for call in node.calls):
        yield PEERS, f"F.dense_rank().over({_window(node, _sort(node, node.order))})"
    for call in node.calls:
        if call.function == LIFE:
            time, (key,) = _time(node), node.order
            goes_on = f"{time} - F.lag({time}).over({_window(node, _sort(node, node.order))}) <= {call.number}"
            yield BEGINS, f"F.when({goes_on}, None).otherwise(F.col({quote(column_name(key.column))}))"


def order_length(call: OverCall, node: Over) -> int:
    """By how many columns rows are sorted for a call; rows in a longer order are in each shorter one too."""
    if call.needs_ties_broken and not _picks_among_peers(call):
        return len(node.sorted_by)
    return 0 if call.aggregate is not None and call.frame == WHOLE else len(node.order)


def _is_measured(call: OverCall) -> bool:
    """Whether its frame begins or ends so far from the row, along the order's value."""
    is_framed = call.function not in RANKS | SHIFTS | {LIFE}
    return is_framed and call.frame.kind is FrameKind.RANGE and bool(call.frame.start or call.frame.end)


def _shares_measure(node: Over) -> bool:
    """Whether some calls are measured and others only sorted, which are sorted by the measure too: one sort is enough for both."""
    return len({_is_measured(call) for call in node.calls if order_length(call, node)}) > 1


def _picks_among_peers(call: OverCall) -> bool:
    return call.function in PICKS and call.frame.kind is not FrameKind.ROWS


def lower_top(node: TopN, names: Mapping[int, str]) -> list[str]:
    """The first rows of each partition; of all rows by Spark's own LIMIT."""
    if not node.partition and node.function == "row_number" and not node.name:
        offset = [f".offset({node.skip})"] if node.skip else []
        return [
            f".orderBy({_sort_by(node.sorted_by)})",
            *offset,
            *([] if node.keeps_all else [f".limit({node.most - node.skip})"]),
        ]
    name = node.name or PLACE
    order = node.order if node.function != "row_number" else node.sorted_by
    place = f"F.col({quote(column_name(name))})"
    above = f"({place} > {node.skip}) & " if node.skip else ""
    lines = [
        with_columns({name: f'F.{node.function}().over({_window(node, _sort_by(order))}).cast("bigint")'}),
        f".where({above}({place} <= {node.most}))",
    ]
    return lines if node.name else [*lines, f".drop({quote(PLACE)})"]


def sort_key(key: SortKey) -> str:
    """A column to sort by; where NULLs are is always said."""
    return _way(f"F.col({quote(column_name(key.column))})", key)


def _way(value: str, key: SortKey) -> str:
    return f"{value}.{'desc' if key.descending else 'asc'}_nulls_{'last' if key.nulls_last else 'first'}()"


def _call(call: OverCall, node: Over) -> str:
    if call.aggregate is not None:
        return f"{aggregate_call(call.aggregate)}.over({_frame(call, node)})"
    argument = quote(column_name(call.argument or ""))
    if call.function == LIFE:
        return f"F.max({quote(BEGINS)}).over({_window(node, _sort(node, node.order))})"
    if call.function in RANKS:
        order = node.order if call.function in PEERS_ALIKE else node.sorted_by
        text = f"F.{call.function}({call.number or ''}).over({_window(node, _sort(node, order))})"
        return text if call.function in ("percent_rank", "cume_dist") else f'{text}.cast("bigint")'
    if call.function in SHIFTS:
        window = _window(node, _sort(node, node.sorted_by))
        if call.default is None:
            return f"F.{call.function}({argument}, {call.number}).over({window})"
        default = quote(column_name(call.default))
        return f'F.call_function("{call.function}", F.col({argument}), F.lit({call.number}), F.col({default})).over({window})'
    return f"{_pick(call, argument)}.over({_frame(call, node)})" + _take(call)


def _pick(call: OverCall, value: str) -> str:
    """The call, in rows that are ordered, or among peers by their places."""
    if not _picks_among_peers(call):
        name = {"first_value": "first", "last_value": "last"}.get(call.function)
        return f"F.{name}({value})" if name else f"F.nth_value({value}, {call.number})"
    name = {"first_value": "min_by", "last_value": "max_by"}.get(call.function)
    place = quote(PLACE)
    return (
        f"F.{name}({value}, {place})" if name else f'F.collect_list(F.struct({place}, F.col({value}).alias("value")))'
    )


def _take(call: OverCall) -> str:
    """What is left to do with the values of a frame."""
    if call.function != "nth_value" or not _picks_among_peers(call):
        return ""
    return f'.transform(lambda rows: F.get(F.array_sort(rows), {call.number - 1}).getField("value"))'


def _frame(call: OverCall, node: Over) -> str:
    frame = call.frame
    if frame.kind is FrameKind.ROWS:
        if call.aggregate is not None and frame == WHOLE:
            return _window(node, "")
        return f"{_window(node, _sort(node, node.sorted_by))}.rowsBetween({_bounds(frame)})"
    if frame == UP_TO_PEERS:
        return _window(node, _sort(node, node.order))
    if frame.kind is FrameKind.GROUPS:
        return f"{_window(node, quote(PEERS))}.rangeBetween({_bounds(frame)})"
    if any(abs(offset or 0) >= UNBOUNDED_OFFSET for offset in (frame.start, frame.end)):
        raise NotSupported(
            f"a RANGE of {UNBOUNDED_OFFSET} in a PySpark job: Spark takes that number for UNBOUNDED",
            instead="write UNBOUNDED, or a smaller number",
        )
    is_alone = _is_measured(call) and not _shares_measure(node)
    measured = _way(_measure(node), node.order[0]) if is_alone else _sort(node, node.order)
    return f"{_window(node, measured)}.rangeBetween({_bounds(frame)})"


def _window(node: Over | TopN, order: str) -> str:
    keys = ", ".join(quote(column_name(key)) for key in node.partition)
    window = f"Window.partitionBy({keys})"
    return f"{window}.orderBy({order})" if order else window


def _sort(node: Over, order: Sequence[SortKey]) -> str:
    if _shares_measure(node):
        order = (replace(order[0], column=MEASURE), *order[1:])
    return _sort_by(order)


def _sort_by(order: Sequence[SortKey]) -> str:
    return ", ".join(map(sort_key, order))


def _measure(node: Over) -> str:
    """The order as a whole number: of a time its microseconds. Of a BIGINT one with room beyond its ends, where Spark would overflow."""
    (key,) = node.order
    kind = node.input.schema[key.column].type
    is_time = isinstance(kind, TimestampType | DateType)
    wide = "decimal(20,0)" if kind == BIGINT else "bigint"
    return _time(node) if is_time else f'F.col({quote(column_name(key.column))}).cast("{wide}")'


def _time(node: Over) -> str:
    """The time by which rows are ordered, in microseconds."""
    return f'F.unix_micros(F.col({quote(column_name(node.order[0].column))}).cast("timestamp"))'


def _bounds(frame: WindowFrame) -> str:
    start = "Window.unboundedPreceding" if frame.start is None else str(frame.start or "Window.currentRow")
    end = "Window.unboundedFollowing" if frame.end is None else str(frame.end or "Window.currentRow")
    return f"{start}, {end}"
