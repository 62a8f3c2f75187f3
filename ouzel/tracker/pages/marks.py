"""What the boxes of the logical plan say beside names: which operators a component has, and whether time is lost there."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.written import WrittenOperator, WrittenQuery
from ouzel.tracker import words
from ouzel.tracker.health.detectors import PRESSED
from ouzel.tracker.metrics.history import CAPACITY, History
from ouzel.tracker.pages.figures import Since, find_slow_share, list_instances, most
from ouzel.tracker.topologies.snapshot import TopologySnapshot

SPAN_S = 180
LINES_QUOTED = 8


@dataclass(frozen=True)
class BoxMark:
    """What is said of a component.

    Attributes:
        level: low, busy or full, by what its busiest task uses of a core; slow, if too much waits for one; none.
        share: of a core, of its busiest task, at most 1.
        load: the same in words; empty if nothing is known.
        operators: a line an operator, and the lines of the query in which they stand.
        lines: the numbers of those lines, apart by spaces.
    """

    level: str
    share: float
    load: str
    operators: tuple[str, ...]
    lines: str


def mark_components(
    snapshot: TopologySnapshot, history: History, written: WrittenQuery | None, now_s: int
) -> dict[str, BoxMark]:
    """By component; of one that does not run no load is said."""
    span, instances = Since(history, now_s - SPAN_S), list_instances(snapshot)
    found = {}
    for part in snapshot.job.topology.components:
        own = [one for one in instances if one.component == part.name] if snapshot.is_alive else []
        share, slow = most(span.over(one.key, CAPACITY) for one in own), most(find_slow_share(span, one) for one in own)
        operators = written.operators.get(part.name, ()) if written else ()
        lines = sorted({line for one in operators for line in one.lines})
        found[part.name] = BoxMark(
            "slow" if _is_slow(slow) else words.load_level(share),
            min(1.0, share or 0.0),
            _load(share, slow),
            (*map(_tell, operators), *_quote(lines, written)),
            " ".join(map(str, lines)),
        )
    return found


def _is_slow(share: float | None) -> bool:
    return share is not None and share >= PRESSED


def _load(share: float | None, slow: float | None) -> str:
    if _is_slow(slow):
        return f"slow {words.share_text(slow)}"
    return "" if share is None else f"busy {words.share_text(share)}"


def _tell(operator: WrittenOperator) -> str:
    place = f" ({operator.place})" if operator.place else ""
    return f"{operator.kind} {operator.does}{place}"


def _quote(lines: list[int], written: WrittenQuery | None) -> list[str]:
    text = written.text.splitlines() if written else []
    return [f"line {line}: {text[line - 1].strip()}" for line in lines[:LINES_QUOTED] if line <= len(text)]
