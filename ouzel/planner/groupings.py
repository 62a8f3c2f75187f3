"""Which grouping a component reads its inputs with, and what a hint may change about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ouzel.compiler.plan import DistributionKind, Hints, Node, needs_routing, streamed_inputs
from ouzel.errors import PlanError, QueryError
from ouzel.planner.components import Part
from ouzel.planner.rules.separate_twin_branches import flat_branches
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Grouping, GroupingKind

GLOBAL, LOCAL_OR_SHUFFLE = Grouping(GroupingKind.GLOBAL), Grouping(GroupingKind.LOCAL_OR_SHUFFLE)


def parallelism_of(part: Part, hints: Hints, settings: Settings) -> int:
    """How many tasks: what a hint says, else the setting; one for a sink and for an aggregate without keys.

    Raises:
        QueryError: the hint cannot be followed.
    """
    asked = dict(hints.parallelism)
    name = part.name if part.name in asked else part.table or ""
    hinted = asked.get(name)
    single = next((spread.reason for spread in part.head.distribution if spread.kind is DistributionKind.SINGLE), None)
    if hinted is None:
        return 1 if single or part.head.writes_table else settings.parallelism
    if hinted < 1:
        raise QueryError(
            f"PARALLELISM('{part.name}'='{hinted}') leaves no task",
            instead="write 1 or more",
            about=("PARALLELISM", name),
        )
    if single and hinted > 1:
        raise QueryError(
            f"PARALLELISM('{part.name}'='{hinted}'): {single.why}",
            instead=", or ".join(filter(None, ("leave the hint out", single.instead))),
            about=("PARALLELISM", name),
        )
    return hinted


def grouping_of(part: Part, port: int, parallelism: int, hints: Hints, reads: Iterable[Part]) -> Grouping:
    """How rows of one input of the part's first node are dealt to its tasks.

    Raises:
        QueryError: a hint asks for a grouping that would break the answer.
    """
    usual = _usual(part, port, parallelism)
    asked = {name: kind for name, kind in hints.grouping if name in _answers_to(part, reads)}
    for name, kind in asked.items():
        usual = _follow_hint(part, name, _kind(name, kind), usual)
    return usual


def check_names(hints: Hints, parts: Iterable[Part]) -> None:
    """Refuse hints that speak of nothing.

    Raises:
        QueryError: with the near names.
    """
    known = sorted({name for part in parts for name in (part.name, part.table) if name})
    for hint, pairs in (("PARALLELISM", hints.parallelism), ("GROUPING", hints.grouping)):
        for name, value in pairs:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                raise QueryError(
                    f"{hint}('{name}'='{value}') speaks of no table or component of this query",
                    instead=f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}",
                    about=(hint, name),
                )


def _answers_to(part: Part, reads: Iterable[Part]) -> set[str]:
    """Names under which a hint may speak of the part's input: its own, its sink's table, or those of the tables it reads directly."""
    own = {part.name, part.table or part.name} if part.reads else set()
    return own | {name for source in reads if source.table for name in (source.name, source.table)}


def _usual(part: Part, port: int, parallelism: int) -> Grouping:
    if part.head.writes_table and parallelism == 1:
        return GLOBAL
    if part.head.partial_keys:
        return Grouping(GroupingKind.PARTIAL_KEY, part.head.partial_keys)
    spread = part.head.distribution[port]
    match spread.kind:
        case DistributionKind.ANY:
            return LOCAL_OR_SHUFFLE
        case DistributionKind.KEYS:
            return Grouping(GroupingKind.FIELDS, spread.keys)
        case DistributionKind.SINGLE:
            return GLOBAL
        case DistributionKind.BROADCAST:
            return Grouping(GroupingKind.ALL)
        case DistributionKind.OWN:
            raise PlanError(f"input {port} of {part.name} is no stream")


def _kind(name: str, text: str) -> GroupingKind:
    allowed = {kind.value: kind for kind in GroupingKind} | {"local": GroupingKind.LOCAL_OR_SHUFFLE}
    try:
        return allowed[text.lower().replace("_", "-")]
    except KeyError:
        raise QueryError(
            f"GROUPING('{name}'='{text}'): there is no such grouping", instead=f"write {', '.join(allowed)}"
        ) from None


def _follow_hint(part: Part, name: str, kind: GroupingKind, usual: Grouping) -> Grouping:
    if kind in (usual.kind, GroupingKind.GLOBAL):
        return Grouping(kind, usual.fields if kind is usual.kind else ())
    if kind is GroupingKind.PARTIAL_KEY and _merges_partial_keys(part.head):
        return usual  # its partial aggregates are read that way; the hint was followed there
    reason = _harm(part, kind)
    if reason:
        raise QueryError(
            f"GROUPING('{name}'='{kind.value}') would break '{part.name}': {reason}",
            instead=f"write '{usual.kind.value}'",
            about=("GROUPING", name),
        )
    return Grouping(kind)


def _merges_partial_keys(node: Node) -> bool:
    return any(leaf.partial_keys for upstream in streamed_inputs(node) for leaf in flat_branches(upstream))


def _harm(part: Part, kind: GroupingKind) -> str:
    """Why this grouping of the part's input would give a wrong answer; empty when it would not."""
    if kind is GroupingKind.ALL:
        return "every task would get every row, so rows would be counted several times"
    if kind in (GroupingKind.DIRECT, GroupingKind.CUSTOM):
        return "only a bolt of the topology API can choose tasks itself"
    if kind is GroupingKind.PARTIAL_KEY:
        return "two tasks would share a key, which needs an aggregate whose partial results can be merged"
    if kind is GroupingKind.FIELDS:
        return "it groups by no key"
    if needs_routing(part.head):
        return "rows of one key would go to different tasks"
    return ""
