"""What a named step may be told, and which component that is."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ouzel.compiler.plan import Aggregate, ApplyPython, FinalAggregate, Hints, Program, walk
from ouzel.compiler.plan.aggregates import is_combinable
from ouzel.errors import QueryError
from ouzel.planner.topology import Component, Topology

ELSEWHERE: Mapping[str, str] = {
    "source_parallelism": "write StepOptions(parallelism=...) for the name of the source",
    "flat_map_parallelism": "write StepOptions(parallelism=...) for the name of the step",
    "summer_parallelism": "write StepOptions(parallelism=...) for the name of the sum",
    "summer_batch_multiplier": "leave it out: a task takes its keys in whole batches, and no map of pairs is sent",
    "cache_size": "write combine=True: what is combined is a batch, whose rows are the setting batch.rows",
    "flush_frequency": "leave it out: a combined batch is sent at once",
    "soft_memory_flush_percent": "leave it out: a combiner keeps nothing from batch to batch",
    "value_combiner_cache_size": "leave it out: a combiner keeps nothing from batch to batch",
    "use_async_cache": "leave it out: a combiner keeps nothing from batch to batch",
    "async_pool_size": "leave it out: sinks are written by a thread of their own, and joins read streams",
    "max_waiting_futures": "leave it out: the setting max.pending.rows bounds what is on its way",
    "max_future_wait_time": "leave it out: the setting ack.timeout.ms says when what is on its way is sent again",
    "max_emit_per_execute": "leave it out: the wire cuts batches itself",
    "max_execute_per_second": "leave it out: what is too fast for the next one is held back",
    "prefer_local_dependency": "leave it out: rows without a key stay in their container where they can",
    "anchor_tuples": "set delivery='at-least-once' or 'at-most-once' for the whole program",
    "ack_on_entry": "set delivery='at-most-once' for the whole program",
    "left_join_grouping": "leave it out: both sides of a join go to the task of their key",
    "fm_mergeable_with_source": "leave it out: functions behind a source are computed in it",
    "reducers": "set spark.sql.shuffle.partitions where Spark runs",
}  # fmt: skip
"""Options of Summingbird's that are no options of a step here, and what to write."""


class _Checked(type):
    def __call__(cls, *values: Any, **given: Any) -> Any:
        known = [one.name for one in fields(cls)]  # type: ignore[arg-type]
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
                raise QueryError(f"a step has no option '{name}'", instead=ELSEWHERE.get(name, advice))
        return super().__call__(*values, **given)


@dataclass(frozen=True)
class StepOptions(metaclass=_Checked):
    """What a named step may be told.

    Args:
        parallelism: how many tasks compute it, and what is fused with it; None for what the setting says.
        combine: of a sum, whether the values of each key are added up in each batch before it is sent to the task of its key.
    """

    parallelism: int | None = None
    combine: bool = False

    def __post_init__(self) -> None:
        tasks = self.parallelism
        if tasks is not None and (type(tasks) is not int or tasks < 1):
            number = re.search("[1-9][0-9]*", str(tasks))
            raise QueryError(
                f"parallelism is how many tasks compute the step, a whole number from 1 on, and {tasks!r:.60} is none",
                instead=f"write StepOptions(parallelism={number[0] if number else 1})",
            )
        if type(self.combine) is not bool:
            raise QueryError(
                f"combine is True or False, not {self.combine!r:.60}", instead="write StepOptions(combine=True)"
            )


def combining_hints(options: Mapping[str, StepOptions], program: Program, names: Iterable[str]) -> Hints:
    """The sums that combine before they send; checks that all names are those of steps.

    Raises:
        QueryError: a step has no such name, or is no sum that can be added up in parts.
    """
    _check_options(options)
    known = Counter(names)
    for name in options.keys() - known:
        near = difflib.get_close_matches(name, known, 1)
        advice = (
            f"did you mean '{near[0]}'?" if near else f"there are {', '.join(sorted(known)) or 'none: call name()'}"
        )
        raise QueryError(f"there are options for '{name}', and nothing has this name", instead=advice)
    for name in options:
        if known[name] > 1:
            raise QueryError(
                f"there are options for '{name}', and {known[name]} steps have this name",
                instead="give them names of their own",
            )
    sums = {node.written.name for sink in program.sinks for node in walk(sink) if _combines(node)}
    wanted = tuple(name for name, told in options.items() if told.combine)
    for name in wanted:
        if name not in sums:
            raise QueryError(f"'{name}' is no sum that can be combined before it is sent", instead="leave combine out")
    return Hints(combining=wanted)


def _check_options(options: object) -> None:
    if not isinstance(options, Mapping):
        raise QueryError(
            "options are a mapping of names of steps to StepOptions",
            instead="write {'total': StepOptions(parallelism=2)}",
        )
    for name, told in options.items():
        if not isinstance(told, StepOptions):
            values = told if isinstance(told, Mapping) else {"parallelism": 2}
            advice = f"write StepOptions({', '.join(f'{key}={value!r}' for key, value in values.items())})"
            raise QueryError(f"the options of '{name}' are StepOptions, and {told!r:.60} is none", instead=advice)


def _combines(node: object) -> bool:
    return isinstance(node, Aggregate) and is_combinable(node)


def parallelism_hints(options: Mapping[str, StepOptions], topology: Topology) -> tuple[tuple[str, int], ...]:
    """How many tasks the components of named steps have.

    Raises:
        QueryError: nothing of a step is left to compute.
    """
    asked = ((name, told.parallelism) for name, told in options.items())
    return tuple((_find_component(name, topology), tasks) for name, tasks in asked if tasks is not None)


def _find_component(name: str, topology: Topology) -> str:
    for component in reversed(topology.components):  # of a sum that combines the last is the sum
        if name in _names_in(component):
            return component.name
    raise QueryError(
        f"there are options for '{name}', of which nothing is left to compute", instead="name another step"
    )


def _names_in(component: Component) -> set[str]:
    found = set[str]()
    for node in component.chain:
        found |= {node.written.name, node.aggregate.written.name if isinstance(node, FinalAggregate) else ""}
        found |= {step.name for step in node.steps} if isinstance(node, ApplyPython) else set()
    return found
