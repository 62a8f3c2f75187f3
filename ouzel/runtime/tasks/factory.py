"""From a topology and a task to its machine."""

from __future__ import annotations

from copy import deepcopy

from ouzel.errors import TopologyError
from ouzel.planner.api import Bolt, Spout
from ouzel.planner.topology import Component, Task, Topology
from ouzel.runtime.protocol.groupings import outlets, stream_numbers
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import Links, Port, TaskMachine, TaskSetup
from ouzel.runtime.tasks.context import Results, TaskContext
from ouzel.runtime.tasks.refusals import row_refusals
from ouzel.runtime.tasks.resuming import sinks_below
from ouzel.runtime.tasks.user import UserBolt, UserSpout

__all__ = ["Results", "TaskContext", "make_task"]


def make_task(task: Task, context: TaskContext) -> TaskMachine:
    """The machine of one task.

    Raises:
        ConnectorError: its source or sink cannot be opened.
        StateError: what was kept is not its own.
        TopologyError: the user's own code fails.
    """
    component = context.topology.component(task.component)
    setup = TaskSetup(
        task, _links(context, task, component), context.topology.settings, context.incarnation, context.shell
    )
    if component.chain:
        from ouzel.runtime.tasks.compiled import (
            make_compiled_task,
        )  # SQL's operators: 0.2 s that a hand-written topology need not pay

        return make_compiled_task(setup, context, component)
    machine = _user_task(setup, context, component)
    if context.restored:
        machine.restore(context.restored)
    return machine


def _user_task(setup: TaskSetup, context: TaskContext, component: Component) -> UserSpout | UserBolt:
    user = _copy(component)
    if isinstance(user, Spout):
        return UserSpout(setup, user, component)
    assert isinstance(user, Bolt)
    streams = {number: pair for pair, number in stream_numbers(context.topology).items()}
    quarantine, refusals = Quarantine(context.in_flight), row_refusals(context)
    return UserBolt(setup, user, component, streams, quarantine, refusals)


def _copy(component: Component) -> object:
    """The user's spout or bolt for one task: tasks of one process share no more than those of several do.

    Raises:
        TopologyError: it holds what cannot be copied.
    """
    try:
        return deepcopy(component.user)
    except Exception as error:
        what = _describe_uncopied(component.user) or f"{error}; make what it holds in open()"
        raise TopologyError(f"'{component.name}' cannot be copied to its tasks: {what}") from None


def _describe_uncopied(user: object) -> str:
    """Which attribute of a spout or bolt cannot be copied; empty if it is none by itself."""
    for name, value in getattr(user, "__dict__", {}).items():
        try:
            deepcopy(value)
        except Exception:
            return f"its attribute '{name}' is a {type(value).__name__}, which cannot be copied; make it in open()"
    return ""


def _links(context: TaskContext, task: Task, component: Component) -> Links:
    topology = context.topology
    writers = {link.component for link in component.inputs}
    upstream = topology.upstream(component.name)
    tasks, numbers = topology.tasks(), stream_numbers(topology)
    spouts, sinks = _feedback(topology, component, upstream)
    return Links(
        sources=tuple(other.id for other in tasks if other.component in writers),
        outlets=outlets(topology, component, context.local_tasks),
        upstream=frozenset(other.id for other in tasks if other.component in upstream),
        spouts=tuple(other.id for other in tasks if other.component in spouts),
        sinks=tuple(other.id for other in tasks if other.component in sinks),
        ports={
            numbers[link.component, link.stream]: Port(
                link.port, tuple(other.id for other in tasks if other.component == link.component)
            )
            for link in component.inputs
        },
    )


def _feedback(topology: Topology, component: Component, upstream: set[str]) -> tuple[set[str], set[str]]:
    """The spouts that a sink tells how far it has written, and the sinks that tell a spout."""
    spouts = {name for name in upstream if topology.component(name).keeps.paths} if not component.outputs else set()
    return spouts, sinks_below(topology, component)
