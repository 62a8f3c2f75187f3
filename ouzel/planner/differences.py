"""Why two operators, or two tables of one name, are not the same, in words: the most telling difference first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan import AddsWindow, Aggregate, Node, Scan, Sink, walk
from ouzel.compiler.plan.sources import OF_BAD_RECORDS
from ouzel.planner.meaning import Meanings, whole

ExpressionText = Callable[[Expression], str]
"""An expression as users write it."""


def place_of_table(scan: Node) -> tuple[object, ...]:
    """What tells a table that is read from others: where one is, its source can read on where another stood."""
    assert isinstance(scan, Scan)
    return scan.place


def tell_other_option(old: Scan | Sink, new: Scan | Sink) -> str:
    """Which option of a table is another."""
    if old.connector != new.connector:
        return f"its connector is {new.connector}, and was {old.connector}"
    before, now = dict(old.options), dict(new.options)
    others = (key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    key = min(others, key=lambda one: (one in OF_BAD_RECORDS, one), default="")
    if key not in now:
        return f"its option '{key}' is gone"
    return f"its option '{key}' is another" if key in before else f"its option '{key}' is new"


def find_differences(old: Node, new: Node, before: Meanings, now: Meanings, words: ExpressionText) -> Iterator[str]:
    """What makes two operators two.

    Args:
        old: the former one.
        new: the one in its place.
        before: what nodes of the former plan mean.
        now: what those of the new plan mean.
        words: how expressions are shown.
    """
    yield from find_other_code(old, new, before, now)
    yield from _other_sources(whole(old), whole(new))
    yield from _other_conditions(before.conditions(old), now.conditions(new), words)
    windows = [_windows(node) for node in (old, new)]
    if windows[0] != windows[1]:
        yield f"its windows are other ones: {windows[1] or 'none'} instead of {windows[0] or 'none'}"
    if before.times_of(old) != now.times_of(new):
        yield "event time is another: its WATERMARK was changed, and other rows are late"
    if before.sides_of(old) != now.sides_of(new):
        yield "a table that is read whole before it holds something else now"
    yield from _other_calls(whole(old), whole(new), before, now)
    yield "what it computes, or what comes to it, is something else now"


def find_other_code(old: Node, new: Node, before: Meanings, now: Meanings) -> Iterator[str]:
    """Which of the user's functions before two operators have other code, if both call them by the same name."""
    had, has = before.code_of(old), now.code_of(new)
    called = {key: text for node in walk(whole(new)) for key, text in node.calls_as_written().items()}
    for name in has:
        if name in had and had[name] != has[name]:
            yield f"the code of {called.get(name, name)} is another, and what it gave before is in it"


def _other_sources(old: Node, new: Node) -> Iterator[str]:
    sources = [{scan.table: scan for scan in walk(node) if isinstance(scan, Scan)} for node in (old, new)]
    for table, scan in sources[1].items():
        former = sources[0].get(table)
        if former is not None and place_of_table(former) != place_of_table(scan):
            yield f"table '{table}' before it is another: {tell_other_option(former, scan)}"
    gone, fresh = sources[0].keys() - sources[1].keys(), sources[1].keys() - sources[0].keys()
    if gone or fresh:
        yield f"it reads {', '.join(sorted(sources[1]))} now, and read {', '.join(sorted(sources[0]))}"


def _other_conditions(
    before: Mapping[str, Expression], now: Mapping[str, Expression], words: ExpressionText
) -> Iterator[str]:
    fresh = " AND ".join(sorted(words(now[key]) for key in now.keys() - before.keys()))
    gone = " AND ".join(sorted(words(before[key]) for key in before.keys() - now.keys()))
    if fresh and gone:
        yield f"its rows are filtered by {fresh} now, and were by {gone}"
    elif fresh or gone:
        yield f"its rows are filtered by {fresh} now" if fresh else f"its rows are not filtered by {gone} any more"


def _windows(node: Node) -> str:
    labels = {one.label for one in walk(whole(node)) if isinstance(one, AddsWindow)}
    return ", ".join(sorted(label.partition(" ")[2] for label in labels))


def _other_calls(old: Node, new: Node, before: Meanings, now: Meanings) -> Iterator[str]:
    if not (isinstance(old, Aggregate) and isinstance(new, Aggregate)):
        return
    ids = [tuple(node.input.column_ids[key] for key in node.keys) for node in (old, new)]
    if ids[0] != ids[1]:
        yield f"it groups by {', '.join(new.keys) or 'nothing'} now, and grouped by {', '.join(old.keys) or 'nothing'}"
    if str(old.emit) != str(new.emit):
        yield f"its rows leave otherwise: EMIT {new.emit} instead of {old.emit}"
    calls = [meanings.calls(node) for meanings, node in ((before, old), (now, new))]
    if sorted(map(str, calls[0])) == sorted(map(str, calls[1])):
        yield "its aggregates are in another order: write them in the order in which they stood"
    texts = [", ".join(_call_text(call) for call in node.calls) for node in (old, new)]
    yield f"it computes {texts[1]} now, and computed {texts[0]}, and rows that are gone cannot be counted again"


def _call_text(call: object) -> str:
    return str(call).partition(" AS ")[0].upper()
