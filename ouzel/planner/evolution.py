"""What becomes of a topology's state when another query takes its place: operator by operator, with the reason.

Nothing is kept that is not of the very same meaning (see `meaning.py`). What begins empty counts what comes from then on; so an operator
that reads rows which are taken back begins empty together with what takes them back, or it would be told of rows that it has never seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ouzel.compiler.plan import Node, Scan, Sink, scans_in, sinks_in, walk
from ouzel.errors import TopologyError
from ouzel.planner.differences import (
    ExpressionText,
    find_differences,
    find_other_code,
    place_of_table,
    tell_other_option,
)
from ouzel.planner.former import EMPTY, Former
from ouzel.planner.meaning import Meanings, keeps_state, whole
from ouzel.planner.topology import Component, Topology


class StateFate(Enum):
    """What becomes of an operator's state, of what a source has read, or of a sink."""

    KEPT = "kept"
    EMPTIED = "emptied"
    """There was state, and it cannot be kept."""
    NEW = "new"
    """There was none."""
    FILLED = "filled"
    """It is made of all that its tables had given before."""
    DROPPED = "dropped"


@dataclass(frozen=True)
class StateChange:
    """What becomes of one operator, source or sink.

    Attributes:
        component: of the new topology; of the former one if it is dropped.
        what: it, in words.
        fate: what becomes of it.
        why: one sentence without its full stop.
        by_code: nothing but the code of functions is another, so it could be kept if these are trusted.
    """

    component: str
    what: str
    fate: StateFate
    why: str
    by_code: bool = False

    def __str__(self) -> str:
        return f"{self.fate.value:7}  {self.what}: {self.why}"


RESULT = "the result"
"""What the result of a trailing SELECT is called."""


@dataclass(frozen=True)
class Evolution:
    """From one topology to the next.

    Attributes:
        operators: what becomes of each operator that keeps something, the new topology's first.
        sources: what becomes of each source.
        sinks: what becomes of each sink.
        formers: of each component of the new topology, what it goes on from.
        filled: the components whose state is filled from history, and that of a result that is; what they go on from is called
            `filled_name` in the epoch.
    """

    operators: tuple[StateChange, ...]
    sources: tuple[StateChange, ...]
    sinks: tuple[StateChange, ...]
    formers: Mapping[str, Former] = field(default_factory=dict)
    filled: frozenset[str] = frozenset()

    @property
    def losses(self) -> tuple[StateChange, ...]:
        """What is lost of state."""
        return tuple(one for one in self.operators if one.fate in (StateFate.EMPTIED, StateFate.DROPPED))

    @property
    def is_result_anew(self) -> bool:
        """Whether what was answered before is no part of the result any more."""
        return any(one.what == RESULT and one.fate is not StateFate.KEPT for one in self.sinks)

    @property
    def changes(self) -> tuple[StateChange, ...]:
        """Everything, sources first."""
        return (*self.sources, *self.operators, *self.sinks)


@dataclass(eq=False)
class _Operator:
    """An operator that keeps something."""

    component: Component
    node: Node
    meaning: str
    trusting: str
    """Its meaning where functions count as the same whatever their code is."""
    before: list[_Operator] = field(default_factory=list)
    former: _Operator | None = None
    fate: StateFate = StateFate.NEW
    why: str = "it is new, and begins empty"

    def empty(self, why: str) -> None:
        """It begins with nothing, though there was something."""
        self.fate, self.why = StateFate.EMPTIED, why


class _Plan:
    """One of the two topologies."""

    def __init__(self, topology: Topology) -> None:
        self.topology, self.meanings = topology, Meanings(topology.code, topology.sides)
        self.trusting = Meanings(topology.code, topology.sides, trusts=True)
        self.sources = {one.name: scan for one in topology.components for scan in scans_in(one.chain[:1])}
        self.operators: list[_Operator] = []
        self._last: dict[str, list[_Operator]] = {}
        for component in topology.components:  # each after those that it reads
            self._add(component)

    def _add(self, component: Component) -> None:
        before = list(dict.fromkeys(one for link in component.inputs for one in self._last[link.component]))
        for node in component.chain:
            if keeps_state(node):
                made = _Operator(component, node, self.meanings.of(node), self.trusting.of(node), before)
                self.operators.append(made)
                before = [made]
        self._last[component.name] = before

    def last_before(self, component: Component) -> list[_Operator]:
        """The operators whose rows come out of a component, or through it."""
        return self._last[component.name]

    def sources_before(self, component: str) -> set[str]:
        """The components that read tables whose rows come to this one."""
        return {component, *self.topology.upstream(component)} & self.sources.keys()

    @property
    def sinks(self) -> list[tuple[Component, Sink]]:
        """The sinks and where they are."""
        return [(one, node) for one in self.topology.components for node in sinks_in(one.chain)]


def filled_name(component: str) -> str:
    """What stands in an epoch for the component of the former topology that had kept what this one is filled with."""
    return f"{component} filled"


def compare_topologies(
    old: Topology, new: Topology, words: ExpressionText = str, *, fills: bool = False, trusts: bool = False
) -> Evolution:
    """What becomes of each operator's state, source and sink when `new` takes the place of `old`.

    Where it `fills`, what cannot be kept is filled from history, together with what comes before it. Where it `trusts`, a function whose
    code is another gives what it gave of all rows that have come so far.

    Raises:
        TopologyError: what is to be filled cannot be; what would begin empty would be told of rows that a source takes back and that it
            has never seen; or a component of either was written by hand.
    """
    for component in (*old.components, *new.components):
        if not component.chain:
            raise TopologyError(
                f"'{component.name}' is written by hand, and nobody can tell what of its state still holds; submit the new topology "
                "under another name"
            )
    return _Comparison(_Plan(old), _Plan(new), words, fills=fills, trusts=trusts).result()


class _Comparison:
    def __init__(self, old: _Plan, new: _Plan, words: ExpressionText, *, fills: bool, trusts: bool) -> None:
        self.old, self.new, self.words, self.fills, self.trusts = old, new, words, fills, trusts
        self.sources = _pair_sources(old, new)

    def result(self) -> Evolution:
        """All that changes."""
        self._keep_equal()
        self._pair_others()
        self._refuse_two_formers()
        self._settle()
        if self.fills:
            self._fill()
        self._refuse_unseen()
        self._refuse_fixed()
        filled = {one.component.name for one in self.new.operators if one.fate is StateFate.FILLED}
        return Evolution(
            (*map(self._describe, self.new.operators), *self._find_dropped()),
            tuple(self._sources()),
            tuple(self._sinks()),
            {component.name: self._former(component) for component in self.new.topology.components},
            frozenset(filled | {component.name for component, sink in self.new.sinks if self._is_filled(component)}),
        )

    def _fill(self) -> None:
        """What cannot be kept is filled.

        Raises:
            TopologyError: it cannot be.
        """
        for operator in self.new.operators:
            if operator.fate is not StateFate.KEPT:
                self._refuse_no_history(operator)
                tables = sorted({scan.table for scan in scans_in(walk(whole(operator.node)))})
                read = " and ".join(f"'{table}'" for table in tables)
                operator.fate, operator.why = StateFate.FILLED, f"from all that was read of {read}, for {operator.why}"
        for component, sink in self.new.sinks:
            if self._is_filled(component) and not sink.traits.returned:
                raise TopologyError(
                    f"table '{sink.table}' is written from {component.name}, which is to be filled from history, and what history answers "
                    "is written into no table yet; leave out --bootstrap, or have the query end with a SELECT"
                )

    def _refuse_no_history(self, operator: _Operator) -> None:
        name = operator.component.name
        for source in sorted(self.new.sources_before(name)):
            scan = self.new.sources[source]
            if source not in self.sources:
                raise TopologyError(
                    f"{name} is to be filled from history, and table '{scan.table}', which it reads, has none, for it is new or has other "
                    "options; leave out --bootstrap, or submit the new query under another name"
                )
        if any(node.drops_late for node in walk(whole(operator.node))) and len(self.new.sources_before(name)) > 1:
            raise TopologyError(
                f"{name} is to be filled from history, and drops rows that are late, of several tables: how their rows came beside each "
                "other is not kept; leave out --bootstrap, or submit the new query under another name"
            )
        if asked := sorted({table for node in walk(whole(operator.node)) for table in node.asks_tables}):
            raise TopologyError(
                f"{name} is to be filled from history, and its rows ask table '{asked[0]}', which answers otherwise by now; leave out "
                "--bootstrap, or submit the new query under another name"
            )

    def _is_filled(self, component: Component) -> bool:
        return any(one.fate is StateFate.FILLED for one in self.new.last_before(component))

    def _keep_equal(self) -> None:
        for operator in self.new.operators:
            equal, why = self._equals_of(operator)
            if equal:
                operator.former, operator.fate, operator.why = equal[0], StateFate.KEPT, why
                if self._sources_of(operator) != self.old.sources_before(equal[0].component.name):
                    operator.empty(
                        "the tables before it are read by other sources than before, which stood at other places"
                    )

    def _equals_of(self, operator: _Operator) -> tuple[list[_Operator], str]:
        """What means the same, that of the same name first, and why it does."""
        equal = [one for one in self.old.operators if one.meaning == operator.meaning]
        why = "it computes the same of the same rows"
        if self.trusts and not equal:
            equal = [one for one in self.old.operators if one.trusting == operator.trusting]
            why = "functions before it have other code, and are trusted to give what they gave"
        return sorted(equal, key=lambda one: one.component.name != operator.component.name), why

    def _sources_of(self, operator: _Operator) -> set[str]:
        """The former sources of those that it reads."""
        return {self.sources.get(name, "") for name in self.new.sources_before(operator.component.name)}

    def _pair_others(self) -> None:
        """Find out what others were, for the reason; each was one that nothing goes on from."""
        free = [one for one in self.old.operators if one not in [other.former for other in self.new.operators]]
        for operator in (one for one in self.new.operators if one.former is None):
            alike = [one for one in free if type(whole(one.node)) is type(whole(operator.node))]
            best = max(alike, key=lambda one: self._likeness(one, operator), default=None)
            if best is not None and self._likeness(best, operator):
                free.remove(best)
                operator.former = best
                operator.empty(self._difference(best, operator))

    def _likeness(self, old: _Operator, new: _Operator) -> int:
        tables = [{scan.table for scan in scans_in(walk(whole(one.node)))} for one in (old, new)]
        return 2 * (old.component.name == new.component.name) + bool(tables[0] & tables[1])

    def _refuse_two_formers(self) -> None:
        """A component goes on from one."""
        goes_on: dict[str, str] = {}
        for operator in (one for one in self.new.operators if one.former and one.fate is StateFate.KEPT):
            former = operator.former.component.name  # type: ignore[union-attr]
            if goes_on.setdefault(operator.component.name, former) != former:
                operator.empty("it was in another component than what is now before it in one")

    def _settle(self) -> None:
        """Until nothing changes: what reads what begins empty begins empty, and so does what takes back rows that its reader never saw."""
        todo = list(self.new.operators)
        while todo:
            operator = todo.pop()
            for other, why in self._drawn_along(operator):
                other.empty(why)
                todo += self.new.operators

    def _drawn_along(self, operator: _Operator) -> Iterator[tuple[_Operator, str]]:
        if operator.fate is StateFate.KEPT and operator.node.retracts and self._has_other_result(operator):
            yield (
                operator,
                "the result has other columns or rows now, and would be told that rows are taken back which it never had",
            )
        for before in operator.before:
            if self.fills and operator.fate is not StateFate.KEPT and before.fate is StateFate.KEPT:
                yield before, f"{operator.component.name}, which reads its rows, is filled"
            elif operator.fate is StateFate.KEPT and before.fate is not StateFate.KEPT:
                yield operator, f"{before.component.name}, whose rows it reads, begins empty"
            elif operator.fate is not StateFate.KEPT and before.fate is StateFate.KEPT and before.node.retracts:
                yield (
                    before,
                    f"{operator.component.name} begins empty, and would be told that rows are taken back which it has never seen",
                )

    def _has_other_result(self, operator: _Operator) -> bool:
        """Whether what it takes back comes to a result whose rows are others than before, but for the names of columns."""
        for component, sink in self.new.sinks:
            if sink.traits.returned and sink.input.retracts and operator in self.new.last_before(component):
                former = next((old for _, old in self.old.sinks if old.traits.returned), None)
                if self.trusts:
                    return former is None or self.old.trusting.of(former) != self.new.trusting.of(sink)
                return former is None or self.old.meanings.of(former) != self.new.meanings.of(sink)
        return False

    def _refuse_unseen(self) -> None:
        for operator in self.new.operators:
            for name in self.new.sources_before(operator.component.name):
                scan = self.new.sources[name]
                is_empty = operator.fate not in (StateFate.KEPT, StateFate.FILLED)
                if is_empty and self.sources.get(name) and scan.retracts:
                    raise TopologyError(
                        f"{operator.component.name} would begin empty, and table '{scan.table}' would take back rows that it has never "
                        "seen; submit the new query under another name, so that it reads the table from its beginning"
                    )

    def _refuse_fixed(self) -> None:
        for name, former in self.sources.items():
            scan, tasks = (
                self.new.sources[name],
                [self.old.topology.component(former), self.new.topology.component(name)],
            )
            if tasks[0].parallelism != tasks[1].parallelism and scan.traits.fixed_tasks:
                raise TopologyError(
                    f"table '{scan.table}' would be read by other tasks than before, {tasks[1].parallelism} and not "
                    f"{tasks[0].parallelism}: {scan.traits.fixed_tasks}; write the number into the query, as it was"
                )

    def _difference(self, old: _Operator, new: _Operator) -> str:
        """Why the state of one is of no use to the other."""
        before, now = self.old.meanings, self.new.meanings
        if old.trusting == new.trusting:
            unnamed = "a function before it has other code, and what it gave before is in it"
            return next(find_other_code(old.node, new.node, before, now), unnamed)
        return next(find_differences(old.node, new.node, before, now, self.words))

    def _describe(self, operator: _Operator) -> StateChange:
        name, former = operator.component.name, operator.former
        by_code = former is not None and operator.fate is StateFate.EMPTIED and former.trusting == operator.trusting
        return StateChange(name, name, operator.fate, operator.why, by_code)

    def _find_dropped(self) -> Iterator[StateChange]:
        gone_on_from = [one.former for one in self.new.operators]
        for operator in self.old.operators:
            if operator not in gone_on_from:
                name = operator.component.name
                yield StateChange(name, name, StateFate.DROPPED, "the new query has no such operator")

    def _former(self, component: Component) -> Former:
        return self._past_of(component)._replace(notes=self._notes_of(component))

    def _notes_of(self, component: Component) -> str:
        if component.name in self.new.sources:
            return self.sources.get(component.name, "")
        written = [sink for sink in component.chain if isinstance(sink, Sink)]
        same = (one.name for one, old in self.old.sinks for sink in written if _target(old) == _target(sink))
        return next(same, "")

    def _past_of(self, component: Component) -> Former:
        own = [one for one in self.new.operators if one.component is component]
        if component.name in self.new.sources:
            return Former(self.sources.get(component.name, ""), ())
        if any(one.fate is StateFate.FILLED for one in own):
            return Former(filled_name(component.name))
        nothing = Former("", (EMPTY,) * len(own))
        formers = [(one, one.former) for one in own if one.former]
        if not formers or not all(name in self.sources for name in self.new.sources_before(component.name)):
            return nothing
        kept = [former for one, former in formers if one.fate is StateFate.KEPT]
        chosen = (kept or [former for _, former in formers])[0].component
        return Former(chosen.name, tuple(self._place(one) for one in own))

    def _place(self, operator: _Operator) -> int:
        if operator.former is None or operator.fate is not StateFate.KEPT:
            return EMPTY
        return [one for one in self.old.operators if one.component is operator.former.component].index(operator.former)

    def _sources(self) -> Iterator[StateChange]:
        for name, scan in self.new.sources.items():
            yield StateChange(name, f"table '{scan.table}'", *self._source_fate(name, scan))
        read = {scan.table for scan in self.new.sources.values()}
        for name, scan in self.old.sources.items():
            if scan.table not in read:
                told = "it is not read any more, and where it was read to is forgotten"
                yield StateChange(name, f"table '{scan.table}'", StateFate.DROPPED, told)

    def _source_fate(self, name: str, scan: Scan) -> tuple[StateFate, str]:
        if name in self.sources:
            return StateFate.KEPT, "it is read on from where it stood"
        old = next(
            (one for one in self.old.sources.values() if isinstance(one, Scan) and one.table == scan.table), None
        )
        if old is None:
            return StateFate.NEW, "it is new, and read as in a new run"
        return StateFate.EMPTIED, f"{tell_other_option(old, scan)}, so it is read anew, as in a new run"

    def _sinks(self) -> Iterator[StateChange]:
        former = {sink.table: sink for _, sink in self.old.sinks}
        for component, sink in self.new.sinks:
            fate, why = _sink_fate(former.get(sink.table), sink)
            emptied = [one.component.name for one in self.new.last_before(component) if one.fate is not StateFate.KEPT]
            if self._is_filled(component):
                fate, why = StateFate.FILLED, "it begins anew, with what the new query answers of all that was read"
            elif sink.traits.returned and sink.input.retracts and fate is StateFate.KEPT and emptied:
                fate, why = StateFate.EMPTIED, f"{emptied[0]} begins empty, and so does what it has answered"
            yield StateChange(component.name, _sink_name(sink), fate, why)
        written = {sink.table for _, sink in self.new.sinks}
        for component, sink in self.old.sinks:
            if sink.table not in written:
                told = "it is not written any more, and what is in it stays"
                yield StateChange(component.name, _sink_name(sink), StateFate.DROPPED, told)


def _sink_name(sink: Sink) -> str:
    return RESULT if sink.traits.returned else f"table '{sink.table}'"


def _sink_fate(old: Sink | None, sink: Sink) -> tuple[StateFate, str]:
    begins = "gets what changes from now on; what was answered before is not written into it"
    if old is None:
        return StateFate.NEW, f"it is new, and {begins}"
    if _target(old) != _target(sink):
        return StateFate.NEW, f"it is another place ({tell_other_option(old, sink)}), and {begins}"
    if old.mode is not sink.mode or old.keys != sink.keys:
        return (
            StateFate.KEPT,
            "it is written on, in another way: as what changes by another key, or as rows that only come",
        )
    names = [list(_columns(one)) for one in (old, sink)]
    if sink.traits.returned and [kind for _, kind in names[0]] != [kind for _, kind in names[1]]:
        told = ", ".join(sink.input.schema.names)
        return (
            StateFate.EMPTIED,
            f"its columns are {told} now, so it begins anew, and what was answered before is not shown any more",
        )
    if sink.traits.returned and names[0] != names[1]:
        return StateFate.KEPT, f"its columns are called {', '.join(sink.input.schema.names)} from now on"
    if names[0] != names[1]:
        told = ", ".join(sink.input.schema.names)
        return (
            StateFate.KEPT,
            f"it is written on, with the columns {told}; rows that were written before stay as they are",
        )
    return StateFate.KEPT, "it is written on"


def _target(sink: Sink) -> tuple[object, ...]:
    return (sink.table, sink.connector, tuple(sorted(sink.options)))


def _columns(sink: Sink) -> Iterable[tuple[str, str]]:
    return ((one.name, str(one.type)) for one in sink.input.schema)


def _pair_sources(old: _Plan, new: _Plan) -> dict[str, str]:
    """Of each source, that of the former topology which read the same table, from where it can read on."""
    pairs: dict[str, str] = {}
    for name, scan in new.sources.items():
        same = [other for other, former in old.sources.items() if place_of_table(former) == place_of_table(scan)]
        same.sort(key=lambda other: (_filters(old, other) != _filters(new, name), other != name))
        if same:
            pairs[name] = same[0]
    return pairs


def _filters(plan: _Plan, source: str) -> set[str]:
    return plan.meanings.conditions(plan.sources[source]).keys()  # type: ignore[return-value]
