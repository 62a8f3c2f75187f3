"""The table of faults in docs/delivery.md: its rows, what was seen of each, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEN, PAGE = ROOT / "doc_sources" / "delivery_faults.txt", ROOT / "docs" / "delivery.md"
BEGIN, END = "<!-- fault table: written by `make fault-table` -->\n", "<!-- end of the fault table -->\n"

MODES = ("at-least-once", "effectively-once")
SIGNALS = ("SIGKILL", "SIGSTOP")

SINGLE = {
    "source": "a source",
    "combiner": "a combiner (keeps no state)",
    "window": "an aggregate by window",
    "aggregate": "a running aggregate",
    "join": "a join",
    "over": "an `OVER`",
    "sink": "a sink",
    "stream-manager": "a stream manager",
    "metrics-manager": "a metrics manager",
    "executor": "an executor",
    "topology-master": "the topology master",
    "server": "the server of a submitted topology",
    "follower": "a client that follows a submitted topology",
    "run-server": "the server of `ouzel run`",
    "run-client": "the client `ouzel run`",
}
"""Who gets each signal, and what the table calls him."""

FURTHER = {
    "aggregate+topology-master": "a running aggregate and the topology master at once",
    "join+stream-manager": "a join and the stream manager of another container at once",
    "tasks": "all tasks at once",
    "all": "all processes of a submitted topology at once",
    "disk": "full disk under `checkpoint.path`, and a running aggregate dies meanwhile",
}
"""Who dies together, by SIGKILL."""

ROWS = tuple((who, signal) for who in SINGLE for signal in SIGNALS) + tuple((who, "SIGKILL") for who in FURTHER)

HEAD = (
    "| what | how | at least once: rows | told | s | effectively once: rows | told | s |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


@dataclass(frozen=True)
class Sighting:
    """What was seen of one fault.

    Attributes:
        who: of SINGLE or FURTHER.
        signal: of SIGNALS.
        mode: of MODES.
        wrong: what was wrong of rows, in words; empty if nothing was.
        twice: so many rows were told twice, or more often, in files.
        unwritten: of a run that ends where it is: so many rows that one table shows to have been read are not in another one.
        told: kinds of events, in alphabetical order.
        after: what was done by hand to bring it back, or how it ended; empty if it went on by itself.
        stood_s: the longest time in which no new row came, in seconds; None if none can come.
    """

    who: str
    signal: str
    mode: str
    wrong: str
    twice: int
    told: tuple[str, ...]
    after: str
    stood_s: float | None
    unwritten: int = 0

    @property
    def cells(self) -> tuple[str, str, str]:
        """Its three cells of the table."""
        twice = f"{self.twice:,} twice in files" if self.twice else ""
        unwritten = f"{self.unwritten:,} not written when it ended" if self.unwritten else ""
        rows = self.wrong or ", ".join(filter(None, (twice, unwritten))) or "each once"
        told = ", ".join([*(f"`{kind}`" for kind in self.told), *([self.after] if self.after else [])])
        return rows, told or "nothing", "" if self.stood_s is None else f"{self.stood_s:.1f}"


def render(seen: Iterable[Sighting]) -> str:
    """The table."""
    known = {(one.who, one.signal, one.mode): one.cells for one in seen}
    lines = list(HEAD)
    for who, signal in ROWS:
        cells = [cell for mode in MODES for cell in known.get((who, signal, mode), ("not tried", "", ""))]
        lines.append(f"| {' | '.join([(SINGLE | FURTHER)[who], signal, *cells])} |")
    return "\n".join(lines) + "\n"


def between_markers(page: str) -> str:
    """The table in the text of a page."""
    return page.partition(BEGIN)[2].partition(END)[0]


def load(path: Path = SEEN) -> list[Sighting]:
    """What was seen the last time."""
    if not path.exists():
        return []
    return [Sighting(**{**one, "told": tuple(one["told"])}) for one in json.loads(path.read_text())]


def merged(before: Sequence[Sighting], now: Sequence[Sighting]) -> list[Sighting]:
    """What was seen now takes the place of what was seen before of the same faults."""
    known: Mapping[tuple[str, str, str], Sighting] = {(one.who, one.signal, one.mode): one for one in (*before, *now)}
    order = [(who, signal, mode) for who, signal in ROWS for mode in MODES]
    return [known[key] for key in order if key in known]


def write(seen: Sequence[Sighting]) -> None:
    """Keep what was seen, and put the table into the page."""
    SEEN.write_text("[\n" + ",\n".join(json.dumps(asdict(one)) for one in seen) + "\n]\n")
    page = PAGE.read_text()
    PAGE.write_text(page.replace(BEGIN + between_markers(page) + END, BEGIN + render(seen) + END))
