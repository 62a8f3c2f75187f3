"""Which topologies can keep their state in epochs (`checkpoint.interval.ms`), said when they are planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ouzel.compiler.plan import Sink, keeps_rows, scans_in, sinks_in
from ouzel.errors import NotSupported
from ouzel.planner.own_state import KeepsState, why_no_epochs
from ouzel.planner.settings import UNSET, Delivery, Settings
from ouzel.planner.store_address import check_endpoint, is_store_address, parse_address
from ouzel.planner.topology import Component, Topology

_SETTING = ("SET", "checkpoint.interval.ms")
_OF_ONES_OWN = (
    "define snapshot and restore in its class, or write stateless = True there if a task of it may begin anew"
)
_WITHOUT = "leave the setting out: a task that dies then loses what it kept, and the run says so"


INTERVAL_MS = 10_000
"""Of a topology that has epochs though nobody has set how often."""


def with_own_interval(settings: Settings) -> Settings:
    """The settings with epochs, if the delivery needs some and nobody has said how often."""
    if settings.delivery.publishes and settings.checkpoint_interval_ms == UNSET:
        return replace(settings, checkpoint_interval_ms=INTERVAL_MS)
    return settings


def with_epochs(topology: Topology) -> Topology:
    """The topology with epochs, if nobody has said whether it is to have some, and it can go back to one."""
    if topology.settings.checkpoint_interval_ms != UNSET:
        return topology
    settings = replace(topology.settings, checkpoint_interval_ms=_own_interval(topology))
    try:
        check_epochs(topology.components, settings)
    except NotSupported:
        return topology
    return replace(topology, settings=settings)


def with_epochs_of_run(topology: Topology) -> Topology:
    """The topology as a run of it has it, which ends with whoever started it: with epochs if it keeps state, as in `with_epochs`.

    They are in the job directory: nobody goes on from them when the run is over, and a folder of epochs is of one run.
    """
    if topology.settings.checkpoint_interval_ms != UNSET or not needs_epochs(topology):
        return topology
    made = with_epochs(replace(topology, settings=replace(topology.settings, checkpoint_path="")))
    return made if made.settings.has_epochs else topology


def interval_ms_of_run(topology: Topology) -> int:
    """How often a run of the topology keeps an epoch; 0 if it keeps none."""
    return max(0, with_epochs_of_run(topology).settings.checkpoint_interval_ms)


def why_without_epochs(topology: Topology) -> str:
    """Why a run of a topology that keeps state has no epochs; an empty text if it has some, or keeps nothing."""
    settings = topology.settings
    if not needs_epochs(topology) or with_epochs_of_run(topology).settings.has_epochs:
        return ""
    if settings.checkpoint_interval_ms == 0:
        return "'checkpoint.interval.ms' is 0"
    try:
        check_epochs(topology.components, replace(settings, checkpoint_interval_ms=INTERVAL_MS, checkpoint_path=""))
    except NotSupported as error:
        return error.problem
    return ""


def needs_epochs(topology: Topology) -> bool:
    """Whether a task of the topology keeps what would die with it, or may do so, for nobody has said what it keeps."""
    return any(
        (isinstance(component.user, KeepsState) and not component.user.stateless)
        or any(map(keeps_rows, component.chain))
        for component in topology.components
    )


def _own_interval(topology: Topology) -> int:
    """No shorter than rows are held back: what waits leaves with each epoch."""
    delays = (node.held_back_ms for component in topology.components for node in component.chain)
    return max(INTERVAL_MS, *delays, 0)


def check_epochs(components: Iterable[Component], settings: Settings) -> None:
    """Nothing, if epochs are off or possible.

    Raises:
        NotSupported: a component cannot go back to an epoch.
    """
    if not settings.has_epochs:
        if settings.delivery.publishes:
            told = "'checkpoint.interval.ms' = '0' turns epochs off, and 'effectively-once' publishes rows with them"
            raise NotSupported(told, instead="leave the setting out, or write how often", about=_SETTING)
        return
    if settings.delivery is Delivery.AT_MOST_ONCE:
        told = f"'delivery' = '{settings.delivery.value}' promises nothing of what is on its way, so no state is kept in epochs"
        raise NotSupported(told, instead="SET 'delivery' = 'at-least-once'", about=_SETTING)
    check_path(settings)
    for component in components:
        _check_component(component)
        for sink in sinks_in(component.chain[-1:]) if settings.delivery.publishes else ():
            _check_sink(sink)


def check_path(settings: Settings) -> None:
    """Nothing, if epochs can be kept where the settings say.

    Raises:
        NotSupported: it is no folder, and no store that Ouzel knows.
    """
    check_endpoint(settings.checkpoint_endpoint)
    if is_store_address(settings.checkpoint_path):
        parse_address(settings.checkpoint_path)


def _check_component(component: Component) -> None:
    if isinstance(component.user, KeepsState) and (told := why_no_epochs(component.name, component.user)):
        raise NotSupported(told, instead=_OF_ONES_OWN, about=_SETTING)
    for scan in scans_in(component.chain[:1]):
        if scan.traits.by_token or not scan.traits.kept:
            told = f"table '{scan.table}' ({scan.connector}) cannot be read again from an epoch on: what it has given is gone"
            raise NotSupported(told, instead=_WITHOUT, about=_SETTING)


def _check_sink(sink: Sink) -> None:
    if not (sink.traits.publishes or sink.traits.returned):
        told = f"table '{sink.table}' ({sink.connector}) cannot show the rows of an epoch all at once, and each of them once"
        way_out = "SET 'delivery' = 'at-least-once', or write to a table that can (docs/delivery.md#effectively-once)"
        raise NotSupported(told, instead=way_out, about=("SET", "delivery"))
