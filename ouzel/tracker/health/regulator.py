"""What is done about the health of one topology, when, and whether it helped. Without I/O or clock.

One thing is done at a time. Then the topology is left alone until its metrics tell how it stands, and what was done is judged by that.
What helped may be done again after a while, each time after twice as long. What did not help, or was refused, is not tried again for a day;
what made it worse is undone, too. A component keeps the tasks that it is known to need: a number that was too small for so many rows is
remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ouzel.tracker.health.diagnosers import Verdict
from ouzel.tracker.health.resolvers import (
    LEFT_TO_PEOPLE,
    RESOLVER_KINDS,
    RESOLVERS,
    Bounds,
    Remedy,
    Resolver,
    Shortage,
    Sighting,
    evidence_text,
)
from ouzel.tracker.health.treatments import Rest, Treatment, TreatmentMemory, TreatmentOutcome

DAY_S = 86_400.0
WAIT_MAX_S = 4 * 3_600.0

GAINED, LOST = 1.1, 0.8
"""More rows are read if so many times what was read before, and fewer if so many times."""

REFUSED_S, REFUSALS = 60.0, 3
"""What is refused is tried again after so long, up to so often: another command may have been at work."""


@dataclass(frozen=True)
class Patience:
    """How long things take.

    Attributes:
        lasts_s: a verdict must stand for so long before anything is done about it.
        settle_s: so long after something was done it is judged; longer than the span that sensors look at, and what a young run needs.
    """

    lasts_s: float = 60.0
    settle_s: float = 300.0


@dataclass
class Regulator:
    """Looks at one topology again and again. `memory` is what must be remembered over its death.

    Attributes:
        bounds: what may be done.
        held: by title, of each verdict that nothing is done about, why.
    """

    bounds: Bounds
    patience: Patience = Patience()
    memory: TreatmentMemory = field(default_factory=TreatmentMemory)
    held: dict[str, str] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)

    def look(self, seen: Sighting | None, now_s: float) -> Treatment | None:
        """What is to be done now. None is seen of a topology that does not run, is paused, or is too young to say anything."""
        if seen is None:
            self._since.clear()
            return None
        self._since = {one.title: self._since.get(one.title, now_s) for one in seen.verdicts}
        last = self.memory.open
        if last is None:
            return self._undo_again(now_s) or self._propose(seen, now_s)
        if last.ended_s is None or now_s - last.ended_s < self.patience.settle_s:
            return None
        return self._judge(last, seen, now_s)

    def on_carried_out(self, now_s: float, refusal: str = "") -> None:
        """What was to be done is done, or was refused with these words."""
        last = self.memory.open
        if last is None:
            return
        if not refusal:
            self.memory.change(ended_s=now_s, outcome=TreatmentOutcome.WATCHED)
            return
        self.memory.change(ended_s=now_s, outcome=TreatmentOutcome.REFUSED, said=refusal)
        if last.undoes:
            return  # its resolver rests already, for it made it worse
        key = (last.resolver, last.place)
        count = self._count(key, now_s) + 1
        is_over = count >= REFUSALS
        why = f"it was refused {count} times" if is_over else ""
        self.memory.rests[key] = Rest(count, now_s + (DAY_S if is_over else REFUSED_S), why)

    def resume(self, now_s: float) -> None:
        """Go on after a death. Whether the command that was at work was carried out shows in how many tasks there are."""
        if (last := self.memory.open) is not None and last.ended_s is None:
            self.memory.change(ended_s=now_s, outcome=TreatmentOutcome.WATCHED)

    def _propose(self, seen: Sighting, now_s: float) -> Treatment | None:
        self.held = {}
        for verdict in seen.verdicts:
            found = self._resolve(verdict, seen, now_s)
            if isinstance(found, str):
                self.held[verdict.title] = found
            elif now_s - self._since[verdict.title] >= self.patience.lasts_s:
                return self._begin(found, verdict, seen, now_s)
        return None

    def _resolve(self, verdict: Verdict, seen: Sighting, now_s: float) -> Remedy | str:
        """The remedy of the first resolver that may act, or why none does."""
        whys: list[str] = []
        for row in RESOLVERS:
            if verdict.kind not in row.cures:
                continue
            if not row.is_allowed(self.bounds.policy):
                whys.append(f"'health.policy' is {self.bounds.policy.value}, which allows no {row.kind}")
                continue
            found = row.resolve(verdict, seen, self.bounds, self._shortage(verdict.component, now_s))
            if isinstance(found, Remedy):
                why = self._resting(found, now_s)
                if not why:
                    return found
                found = why
            whys.append(found)
            if self._is_only_waiting(row, verdict, now_s):
                break  # the next resolver is for what this one could not mend
        return "; ".join(whys) or LEFT_TO_PEOPLE[verdict.kind]

    def _is_only_waiting(self, row: Resolver, verdict: Verdict, now_s: float) -> bool:
        rest = self.memory.rests.get((row.kind, verdict.place))
        return rest is not None and now_s < rest.until_s and not rest.why

    def _resting(self, remedy: Remedy, now_s: float) -> str:
        rest = self.memory.rests.get((remedy.resolver, remedy.place))
        if rest is None or now_s >= rest.until_s:
            return ""
        left = f"no {remedy.resolver} of {remedy.place} for {(rest.until_s - now_s) / 60:,.0f} min"
        return f"{left}: {rest.why}" if rest.why else f"{left}: it was tried not long ago"

    def _begin(self, remedy: Remedy, verdict: Verdict, seen: Sighting, now_s: float) -> Treatment:
        had = seen.tasks[remedy.component]
        if remedy.resolver == "scale-up":
            self._note_shortage(remedy.component, had, seen, now_s)
        treatment = Treatment(
            self.memory.count + 1,
            remedy.resolver,
            remedy.place,
            remedy.component,
            had,
            remedy.tasks,
            verdict.title,
            evidence_text(verdict.evidence),
            now_s,
            seen.read_s,
        )
        self.memory.add(treatment)
        return treatment

    def _judge(self, last: Treatment, seen: Sighting, now_s: float) -> Treatment | None:
        has = seen.tasks.get(last.component)
        if last.tasks and has == last.had:  # its command was cut off, or somebody has taken it back
            self.memory.change(outcome=TreatmentOutcome.CHANGED_BY_OTHERS, said=f"{last.component} has {has} tasks")
            return None
        if last.tasks and has != last.tasks:
            self.memory.forget(last.component)
            self.memory.change(outcome=TreatmentOutcome.CHANGED_BY_OTHERS)
            return None
        outcome = TreatmentOutcome.DONE if last.undoes else _judge(last, seen)
        self.memory.change(outcome=outcome)
        self._rest(last, outcome, now_s)
        if outcome is not TreatmentOutcome.MADE_WORSE:
            return None
        if last.resolver == "scale-down":
            self._note_shortage(last.component, last.tasks, seen, now_s)
        return self._undo(last, now_s) if RESOLVER_KINDS[last.resolver].is_allowed(self.bounds.policy) else None

    def _undo_again(self, now_s: float) -> Treatment | None:
        """What is to be undone and was refused, as long as there is hope."""
        last = self.memory.treatments[-1] if self.memory.treatments else None
        if last is None or not last.undoes or last.outcome is not TreatmentOutcome.REFUSED or last.ended_s is None:
            return None
        tries = sum(one.undoes == last.undoes for one in self.memory.treatments)
        if tries >= REFUSALS or now_s - last.ended_s < REFUSED_S:
            return None
        again = replace(
            last, number=last.number + 1, began_s=now_s, ended_s=None, outcome=TreatmentOutcome.AT_WORK, said=""
        )
        self.memory.add(again)
        return again

    def _undo(self, last: Treatment, now_s: float) -> Treatment:
        treatment = Treatment(
            self.memory.count + 1,
            last.resolver,
            last.place,
            last.component,
            last.tasks,
            last.had,
            last.verdict,
            f"{last.title} made it worse",
            now_s,
            undoes=last.number,
        )
        self.memory.add(treatment)
        return treatment

    def _rest(self, last: Treatment, outcome: TreatmentOutcome, now_s: float) -> None:
        """How long the resolver leaves that place alone now."""
        key = (last.resolver, last.place)
        if outcome in (TreatmentOutcome.DONE, TreatmentOutcome.HELPED_SOME):
            return
        count = self._count(key, now_s) + 1
        if outcome in (TreatmentOutcome.MADE_WORSE, TreatmentOutcome.DID_NOT_HELP):
            self.memory.rests[key] = Rest(count, now_s + DAY_S, f"the last one {outcome.value}")
            return
        wait_s = min(RESOLVER_KINDS[last.resolver].wait_s * 2 ** (count - 1), WAIT_MAX_S)
        self.memory.rests[key] = Rest(count, now_s + wait_s)

    def _count(self, key: tuple[str, str], now_s: float) -> int:
        rest = self.memory.rests.get(key)
        return rest.count if rest is not None and now_s - rest.until_s < DAY_S else 0

    def _shortage(self, component: str, now_s: float) -> Shortage | None:
        known = self.memory.shortages.get(component)
        return known if known is not None and now_s - known.at_s < DAY_S else None

    def _note_shortage(self, component: str, tasks: int, seen: Sighting, now_s: float) -> None:
        rows_s = seen.rows_s.get(component)
        if rows_s is not None:
            self.memory.shortages[component] = Shortage(tasks, rows_s, now_s)


def _judge(last: Treatment, seen: Sighting) -> TreatmentOutcome:
    """What became of something that was done, by how the topology stands now."""
    gain = 1.0 if not last.read_s or seen.read_s is None else seen.read_s / last.read_s
    if last.resolver == "scale-down":
        if not seen.is_strained:
            return TreatmentOutcome.HELPED
        return TreatmentOutcome.OVERTAKEN if gain >= GAINED else TreatmentOutcome.MADE_WORSE
    is_cured = all(one.title != last.verdict for one in seen.verdicts)
    if last.tasks and seen.is_strained and gain < LOST:
        return TreatmentOutcome.MADE_WORSE
    if is_cured:
        return TreatmentOutcome.HELPED
    return TreatmentOutcome.HELPED_SOME if last.tasks and gain >= GAINED else TreatmentOutcome.DID_NOT_HELP
