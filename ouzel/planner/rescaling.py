"""Another number of tasks for components of a topology that has state: which may change, and the topology with it.

What a component keeps is found again by its key group, or by the partition that it reads. Each class of nodes says in SCALING by which.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum

from ouzel.compiler import plan
from ouzel.compiler.plan.tables import NodeTable, Refused
from ouzel.errors import NotSupported, SubmissionError
from ouzel.planner.epochs import check_epochs
from ouzel.planner.fusion import may_write_in_parts
from ouzel.planner.topology import DEFAULT_STREAM, Component, Grouping, GroupingKind, Input, Output, Topology

KEY_GROUPS = 1024
"""Keys are dealt to tasks by so many groups, so a component that keeps something by key has at most as many tasks."""


class Scaling(Enum):
    """By what the state of a node is found again when the number of its tasks changes."""

    NOTHING = "it keeps nothing"
    FLUSHED = "it holds rows back, which leave in the pause of each epoch"
    KEY_GROUPS = "what it keeps is of a key, and goes with the key's group"
    PARTITIONS = "where it stands is kept by partition"
    SINK = "it keeps nothing, and its table says how many tasks may write"


SCALING: NodeTable[Scaling] = NodeTable(
    "another number of tasks",
    {
        plan.Scan: Scaling.PARTITIONS,
        plan.Project: Scaling.NOTHING,
        plan.Filter: Scaling.NOTHING,
        plan.Watermark: Scaling.NOTHING,
        plan.Unnest: Scaling.NOTHING,
        plan.GatherElements: Scaling.NOTHING,
        plan.ApplyPython: Scaling.NOTHING,
        plan.AssignSession: Scaling.KEY_GROUPS,
        plan.AssignWindow: Scaling.NOTHING,
        plan.Aggregate: Scaling.KEY_GROUPS,
        plan.PartialAggregate: Scaling.NOTHING,
        plan.FinalAggregate: Scaling.KEY_GROUPS,
        plan.Join: Scaling.KEY_GROUPS,
        plan.SideJoin: Scaling.NOTHING,
        plan.SetOperation: Scaling.KEY_GROUPS,
        plan.AsofJoin: Scaling.KEY_GROUPS,
        plan.IntervalJoin: Scaling.KEY_GROUPS,
        plan.Over: Scaling.KEY_GROUPS,
        plan.TopN: Scaling.KEY_GROUPS,
        plan.PartialTopN: Scaling.NOTHING,
        plan.Union: Scaling.NOTHING,
        plan.Gather: Scaling.FLUSHED,
        plan.LateRows: Scaling.NOTHING,
        plan.Served: Refused("only a join can ask for its rows"),
        plan.Sink: Scaling.SINK,
    },
)
"""A class that is not listed is refused."""


def with_parallelism(topology: Topology, parallelism: Mapping[str, int]) -> Topology:
    """The topology with these numbers of tasks, by component.

    A sink that stands in the only task that makes its rows becomes a component of its own where several tasks cannot write it.

    Raises:
        SubmissionError: the topology keeps no epochs, has no such component, or the component cannot have so many tasks.
    """
    check_keeps_epochs(topology)
    for name, tasks in parallelism.items():
        _check_number(topology, name, tasks)
    if all(topology.component(name).parallelism == tasks for name, tasks in parallelism.items()):
        told = ", ".join(f"'{name}' has {_tasks(tasks)}" for name, tasks in parallelism.items())
        raise SubmissionError(f"{told} already, so nothing changes; write another number of tasks")
    changed: list[Component] = []
    for component in topology.components:
        tasks = parallelism.get(component.name, component.parallelism)
        changed += [component] if tasks == component.parallelism else _scale(topology, component, tasks)
    return replace(topology, components=tuple(changed))


def check_keeps_epochs(topology: Topology, of_which: str = "that an update could go on from") -> None:
    """See that a topology keeps its state where another one finds it; `of_which` says what is wanted of its epochs.

    Raises:
        SubmissionError: it has no epochs; says why.
    """
    if topology.settings.has_epochs:
        return
    try:
        check_epochs(topology.components, replace(topology.settings, checkpoint_interval_ms=1))
        why = "its 'checkpoint.interval.ms' is 0; submit it again without that"
    except NotSupported as error:
        why = str(error)
    raise SubmissionError(f"topology '{topology.name}' keeps no epochs {of_which}: {why}")


def _check_number(topology: Topology, name: str, tasks: int) -> None:
    known = [component.name for component in topology.components]
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        advice = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
        raise SubmissionError(f"the topology has no component '{name}'; {advice}")
    if tasks < 1:
        raise SubmissionError(f"--parallelism {name}={tasks} leaves no task; write 1 or more")
    if tasks > KEY_GROUPS:
        raise SubmissionError(
            f"--parallelism {name}={tasks}: keys are dealt to tasks in {KEY_GROUPS} groups, so more tasks would have nothing to do; "
            f"write at most {KEY_GROUPS}"
        )


def _scale(topology: Topology, component: Component, tasks: int) -> list[Component]:
    """The component with so many tasks; two if its sink leaves it."""
    if reason := why_fixed(component, tasks):
        raise SubmissionError(f"'{component.name}' cannot have {_tasks(tasks)}: {reason}")
    head, last = component.chain[0], component.chain[-1]
    if isinstance(head, plan.Sink):
        inputs = tuple(replace(link, grouping=_grouping_of_sink(head, tasks)) for link in component.inputs)
        return [replace(component, parallelism=tasks, inputs=inputs)]
    if isinstance(last, plan.Sink) and tasks > 1 and not _may_stay(component, last):
        return _with_sink_apart(topology, component, last, tasks)
    return [replace(component, parallelism=tasks)]


def why_fixed(component: Component, tasks: int) -> str:
    """Why the component cannot have so many tasks; empty if it can."""
    if not component.chain:
        return "it is written by hand, and only its own code knows what it keeps"
    for node in component.chain:
        entry = SCALING.entries.get(type(node), Refused("nobody has said how what it keeps is dealt to other tasks"))
        if isinstance(entry, Refused):
            return f"{node.label}: {entry.why}"
    head = component.chain[0]
    if isinstance(head, plan.Scan):
        return head.traits.fixed_tasks
    if isinstance(head, plan.Sink):
        alone = head.traits.alone and tasks > 1
        return f"table '{head.table}' ({head.connector}) is written by one task" if alone else ""
    if tasks > 1 and any(spread.kind is plan.DistributionKind.SINGLE for spread in head.distribution):
        return f"{head.label}: all its rows belong together, and one task keeps them"
    if tasks > 1 and any(link.grouping.kind is GroupingKind.GLOBAL for link in component.inputs):
        return "a GROUPING hint sends all its rows to one task"
    return ""


def _grouping_of_sink(sink: plan.Sink, tasks: int) -> Grouping:
    if tasks == 1:
        return Grouping(GroupingKind.GLOBAL)
    (spread,) = sink.distribution
    if spread.kind is plan.DistributionKind.ANY:
        return Grouping(GroupingKind.LOCAL_OR_SHUFFLE)
    return Grouping(GroupingKind.FIELDS, spread.keys)


def _may_stay(component: Component, sink: plan.Sink) -> bool:
    """Whether the tasks that make the sink's rows may write them, however many they are; several that write now may."""
    *below, _ = component.chain
    return component.is_spout or component.parallelism > 1 or may_write_in_parts(sink, below[::-1])


def _with_sink_apart(topology: Topology, component: Component, sink: plan.Sink, tasks: int) -> list[Component]:
    makes = component.chain[-2]
    output = Output(makes.schema, makes.retracts)
    maker = replace(component, parallelism=tasks, chain=component.chain[:-1], outputs=(output,))
    taken = {one.name for one in topology.components}
    name = next(name for name in _names_for(sink.table) if name not in taken)
    link = Input(component.name, Grouping(GroupingKind.GLOBAL), DEFAULT_STREAM)
    return [maker, Component(name, 1, (link,), (), (sink,), resources=component.resources)]


def _names_for(table: str) -> Iterable[str]:
    yield table
    yield f"sink_{table}"
    number = 2
    while True:
        yield f"{table}_{number}"
        number += 1


def _tasks(number: int) -> str:
    return f"{number} task{'' if number == 1 else 's'}"
