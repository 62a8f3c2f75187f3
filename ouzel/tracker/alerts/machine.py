"""Who is to be told what: a rule fires when its condition has held long enough, and resolves once. Without I/O or clock.

What is not known changes nothing: it neither fires nor resolves. While a rule is silenced nobody is told; what still holds when the
silence is over is told then, and of what was never told no end is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from ouzel.tracker.alerts.conditions import AlertCondition, TopologyFacts


@dataclass(frozen=True)
class AlertRule:
    """A condition on the topologies whose names match a pattern, and the names of the receivers that are told."""

    name: str
    condition: AlertCondition
    topologies: str
    receivers: tuple[str, ...]


@dataclass(frozen=True)
class MutedSpan:
    """Rules and topologies, as patterns, of which nobody is told until a time in seconds since 1970."""

    rules: str
    topologies: str
    until_s: float


@dataclass(frozen=True)
class AlertNotice:
    """Instruction: tell these receivers that a rule fires for a topology, or that it no longer does."""

    rule: str
    topology: str
    condition: str
    fires: bool
    since_s: float
    receivers: tuple[str, ...]

    @property
    def text(self) -> str:
        """In one line."""
        return f"{self.topology}: {self.condition}" if self.fires else f"{self.topology}: resolved: {self.condition}"


@dataclass(frozen=True)
class RuleStanding:
    """How a rule stands for a topology: since when its condition holds, and whether that was told."""

    since_s: float
    is_told: bool = False


AlertKey = tuple[str, str]
"""Rule and topology."""


@dataclass
class AlertMachine:
    """Looks at facts again and again. `standing` is what must be remembered over its death."""

    rules: Collection[AlertRule]
    muted: Collection[MutedSpan] = ()
    standing: dict[AlertKey, RuleStanding] = field(default_factory=dict)

    def look(self, facts: Mapping[str, TopologyFacts | None], now_s: float) -> list[AlertNotice]:
        """What is to be told now; `facts` are of all topologies that there are, None of one that cannot be read."""
        found = [
            notice
            for rule in self.rules
            for name, known in facts.items()
            if fnmatchcase(name, rule.topologies)
            for notice in self._look_at(rule, name, None if known is None else rule.condition.holds(known), now_s)
        ]
        return found + list(self._forget_others(facts, now_s))

    def _look_at(self, rule: AlertRule, topology: str, holds: bool | None, now_s: float) -> Iterator[AlertNotice]:
        key = rule.name, topology
        if holds is None:
            return
        if not holds:
            yield from self._end(rule, topology, now_s)
            return
        standing = self.standing.setdefault(key, RuleStanding(now_s))
        is_due = now_s - standing.since_s >= rule.condition.lasts_s
        if is_due and not standing.is_told and not self._is_muted(key, now_s):
            self.standing[key] = replace(standing, is_told=True)
            yield AlertNotice(*key, rule.condition.text, True, standing.since_s, rule.receivers)

    def _end(self, rule: AlertRule, topology: str, now_s: float) -> Iterator[AlertNotice]:
        standing = self.standing.pop((rule.name, topology), None)
        if standing is not None and standing.is_told:
            yield AlertNotice(rule.name, topology, rule.condition.text, False, now_s, rule.receivers)

    def _forget_others(self, facts: Mapping[str, TopologyFacts | None], now_s: float) -> Iterator[AlertNotice]:
        """Of topologies that were removed; what rules that are no more have left is dropped."""
        rules = {rule.name: rule for rule in self.rules}
        for name, topology in list(self.standing):
            if name not in rules or not fnmatchcase(topology, rules[name].topologies):
                del self.standing[name, topology]
            elif topology not in facts:
                yield from self._end(rules[name], topology, now_s)

    def _is_muted(self, key: AlertKey, now_s: float) -> bool:
        return any(
            now_s < one.until_s and fnmatchcase(key[0], one.rules) and fnmatchcase(key[1], one.topologies)
            for one in self.muted
        )
