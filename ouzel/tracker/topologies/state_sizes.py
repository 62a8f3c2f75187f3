"""How much the operators of a topology keep, over all their tasks, from the history of metrics: how it is, and how it has grown."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.runtime.observe.task_metrics import STATE_BYTES, STATE_KEYS, STATE_ROWS
from ouzel.tracker.metrics.history import History, InstanceKey
from ouzel.tracker.metrics.series import sum_of
from ouzel.tracker.topologies.snapshot import TopologySnapshot

GROWTH_SPANS = {"10 min": 600, "1 h": 3_600}
"""Over which times growth is told, and how long they are in seconds."""


@dataclass(frozen=True)
class StateGrowth:
    """How many keys and bytes an operator keeps more than so many seconds ago, or than when it first said so, if that was later."""

    seconds: int
    keys: int | None
    bytes: int | None


@dataclass(frozen=True)
class OperatorSize:
    """How much one operator keeps in memory, over all its tasks.

    Attributes:
        component: whose operator it is.
        operator: its name.
        tasks: how many tasks have told.
        keys: how many it has; None if it has none by key, or that is not known.
        rows: how many rows it keeps for them; None if it keeps none beside what it keeps once a key.
        bytes: how many it keeps; see `runtime/state/summary.py` for what is estimated. None if that is not known yet.
        growth: a row for each of GROWTH_SPANS.
    """

    component: str
    operator: str
    tasks: int
    keys: int | None
    rows: int | None
    bytes: int | None
    growth: tuple[StateGrowth, ...]


def list_operator_sizes(snapshot: TopologySnapshot, history: History, now_s: int) -> list[OperatorSize]:
    """All operators that keep state, by component and place in its chain, as they were when their tasks last told."""
    return [
        _measure(history, component, operator, keys, now_s)
        for (component, operator), keys in _find_operators(snapshot, history).items()
    ]


def _find_operators(snapshot: TopologySnapshot, history: History) -> dict[tuple[str, str], list[InstanceKey]]:
    """The tasks that have told of each."""
    found: dict[tuple[str, str], list[InstanceKey]] = {}
    for task in snapshot.job.topology.tasks():
        key = task.component, task.id
        told = history.values_of(key)
        for operator in sorted({name.partition("/")[2] for name in told if name.startswith((STATE_KEYS, STATE_BYTES))}):
            found.setdefault((task.component, operator), []).append(key)
    return found


def _measure(history: History, component: str, operator: str, keys: list[InstanceKey], now_s: int) -> OperatorSize:
    times = [now_s, *(now_s - seconds for seconds in GROWTH_SPANS.values())]

    def at_times(begin: str) -> list[int | None]:
        told = [history.values_at(key, begin + operator, times) for key in keys]
        return [_whole(sum_of(values)) for values in zip(*told, strict=True)]

    (count, *counts), (size, *sizes), (rows, *_) = map(at_times, (STATE_KEYS, STATE_BYTES, STATE_ROWS))
    growth = tuple(
        StateGrowth(seconds, _subtract(count, count_then), _subtract(size, size_then))
        for seconds, count_then, size_then in zip(GROWTH_SPANS.values(), counts, sizes, strict=True)
    )
    return OperatorSize(component, operator, len(keys), count, rows, size, growth)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _subtract(now: int | None, then: int | None) -> int | None:
    return None if now is None or then is None else now - then
