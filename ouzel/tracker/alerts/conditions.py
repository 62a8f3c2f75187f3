"""The language of conditions: `lag > 1 min for 5 min`, `no epoch for 2 min`, `state is failed`, `verdict data-skew for 10 min`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lark import Lark, Token, Transformer, UnexpectedInput
from lark.exceptions import VisitError

from ouzel.errors import OuzelError
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.spans import UNIT_US
from ouzel.tracker.health.diagnosers import DIAGNOSERS

CHARACTERS_MAX = 1_000

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}
_FORMS = (
    "'lag > 1 min for 5 min', 'lag > 10000', 'no epoch for 2 min', 'state is failed' or 'verdict data-skew for 10 min'"
)


@dataclass(frozen=True)
class TopologyFacts:
    """What conditions ask of a topology.

    Attributes:
        state: how it stands.
        behind_s: seconds that event time is behind the clock, or, where no row has one, for how long a record has waited to be read; None
            if neither is known.
        epoch_age_s: seconds since the last complete epoch, or since it was started; None if it makes none, or does not run.
        figures: by name, those that are known: lag in records, rows read a second, counts since the start, and what the newest
            reconciliation cannot explain.
        verdicts: the kinds of what is the matter with it; None if it does not run.
    """

    state: str
    behind_s: float | None = None
    epoch_age_s: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    verdicts: frozenset[str] | None = None


Holds = Callable[[TopologyFacts], bool | None]
"""Whether something is so; None if that is not known."""


@dataclass(frozen=True)
class AlertCondition:
    """A condition: its text, what must be so, and for how many seconds."""

    text: str
    holds: Holds = field(compare=False)
    lasts_s: float


def parse_condition(text: str) -> AlertCondition:
    """The condition that a text says.

    Raises:
        OuzelError: it says none.
    """
    if len(text) > CHARACTERS_MAX:
        raise OuzelError(f"a condition has {len(text):,} characters; write at most {CHARACTERS_MAX:,}")
    try:
        holds, lasts_s = _Reader().transform(_parser().parse(text))
    except UnexpectedInput as error:
        place = min(max(0, error.pos_in_stream or 0), len(text))
        raise OuzelError(f"the condition '{text}' cannot be read from '{text[place:]}' on; write {_FORMS}") from None
    except VisitError as error:
        raise error.orig_exc from None
    return AlertCondition(text, holds, lasts_s)


@cache
def _parser() -> Lark:
    return Lark((Path(__file__).with_suffix(".lark")).read_text(), parser="lalr", maybe_placeholders=True)


class _Reader(Transformer[Token, tuple[Holds, float]]):
    """Makes functions of the parts of a condition."""

    def lasts(self, parts: list[Token]) -> float:
        return float(parts[0]) * UNIT_US[parts[1]] / 1e6

    def comparison(self, parts: list[Token]) -> Holds:
        name, sign, number, unit = str(parts[0]), _COMPARE[parts[1]], float(parts[2]), parts[3]
        if unit is None:
            return lambda facts: sign(facts.figures[name], number) if name in facts.figures else None
        if name != "lag":
            raise OuzelError(f"'{name}' is no time and cannot be compared with '{number:g} {unit}'; leave out '{unit}'")
        limit = number * UNIT_US[unit] / 1e6
        return lambda facts: None if facts.behind_s is None else sign(facts.behind_s, limit)

    def start(self, parts: list[object]) -> tuple[object, float]:
        return parts[0], float(parts[1] or 0.0)  # type: ignore[arg-type]  # what `lasts` gave

    def no_epoch(self, parts: list[float]) -> tuple[Holds, float]:
        limit = parts[0]  # the age of an epoch is a duration itself: nothing more is waited for
        return lambda facts: None if facts.epoch_age_s is None else facts.epoch_age_s >= limit, 0.0

    def state_is(self, parts: list[Token]) -> tuple[Holds, float]:
        state = str(parts[0])
        _check(state, [each.value for each in Condition], "state")
        return lambda facts: facts.state == state, float(parts[1] or 0.0)

    def verdict_is(self, parts: list[Token]) -> tuple[Holds, float]:
        kind = str(parts[0])
        _check(kind, [row.kind for row in DIAGNOSERS], "verdict")
        return lambda facts: None if facts.verdicts is None else kind in facts.verdicts, float(parts[1] or 0.0)


def _check(word: str, known: list[str], what: str) -> None:
    if word not in known:
        raise OuzelError(f"there is no {what} '{word}'; write one of {', '.join(known)}")
