"""Every kind of plan with every EMIT rule: it says no, with a way out, or its answer is that of any other rule."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import QueryError
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import load_text
from tests.law.cases import Case
from tests.law.compare import difference
from tests.law.engines import folded

WINDOW = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECONDS))"
SESSIONS = "TABLE(SESSION(TABLE events PARTITION BY kind, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
RULES = {
    "changes": "CHANGES",
    "watermark": "AFTER WATERMARK",
    "lateness": "AFTER WATERMARK WITH LATENESS INTERVAL '1' MINUTE",
    "delay": "AFTER DELAY INTERVAL '1' SECOND",
    "delay_watermark": "AFTER DELAY INTERVAL '1' SECOND AND AFTER WATERMARK",
    "delay_lateness": "AFTER DELAY INTERVAL '1' SECOND AND AFTER WATERMARK WITH LATENESS INTERVAL '1' MINUTE",
    "changes_lateness": "CHANGES AND AFTER WATERMARK WITH LATENESS INTERVAL '1' MINUTE",
}
NO_WINDOW = {"watermark", "lateness", "delay_watermark", "delay_lateness", "changes_lateness"}
LATE = {"lateness", "delay_watermark", "delay_lateness", "changes_lateness"}
KINDS: dict[str, tuple[str, set[str]]] = {
    "rows": ("SELECT id, kind FROM events", NO_WINDOW),
    "taken back": ("SELECT * FROM accounts", NO_WINDOW),
    "groups": ("SELECT kind, COUNT(*) AS n FROM events GROUP BY kind", NO_WINDOW),
    "windows": (f"SELECT window_start, kind, COUNT(*) AS n FROM {WINDOW} GROUP BY window_start, window_end, kind", set()),
    "distinct of windows": (f"SELECT DISTINCT window_end, kind FROM {WINDOW}", set()),
    "sessions": (f"SELECT id, window_start FROM {SESSIONS}", LATE),
    "totals of sessions": (f"SELECT kind, window_start, COUNT(*) AS n FROM {SESSIONS} GROUP BY kind, window_start, window_end",
      LATE - {"delay_watermark"}),
    "join": ("SELECT a.id, b.id AS other FROM events AS a LEFT JOIN events AS b ON a.id = b.id + 1", NO_WINDOW),
    "interval join": ("""SELECT a.id, b.id AS other FROM events AS a LEFT JOIN events AS b
      ON a.kind = b.kind AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts""", LATE),
    "as of": ("SELECT a.id, b.id AS other FROM events AS a ASOF LEFT JOIN events AS b ON a.kind = b.kind AND a.ts > b.ts", LATE),
    "over in time": ("SELECT id, COUNT(*) OVER (PARTITION BY kind ORDER BY ts) AS n FROM events", LATE),
    "over": ("SELECT id, COUNT(*) OVER (PARTITION BY kind) AS n FROM events", NO_WINDOW),
    "first rows": ("SELECT id, kind FROM events ORDER BY id DESC LIMIT 5", NO_WINDOW),
    "first windows": (f"""SELECT window_start, kind, COUNT(*) AS n FROM {WINDOW} GROUP BY window_start, window_end, kind
      ORDER BY n DESC, window_start, kind LIMIT 5""", set()),
    "first of each window": (f"""SELECT * FROM (SELECT window_start, window_end, kind, COUNT(*) AS n FROM {WINDOW}
      GROUP BY window_start, window_end, kind) AS t
      QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC, kind) = 1""",
      LATE - {"delay_watermark"}),
    "set operation": ("SELECT kind FROM events EXCEPT SELECT kind FROM events WHERE id > 100", NO_WINDOW),
}  # fmt: skip
"""Each kind of plan with the rules that it refuses."""


@cache
def answer(kind: str, rule: str, inputs: Path) -> pl.DataFrame:
    """The table that its changes add up to."""
    case = Case("emission", "emission", f"{KINDS[kind][0]}\nEMIT {RULES[rule]};", "")
    job = load_text(case.program, inputs, "emission", (("parallelism", "2"),))
    run = simulate(job.topology, job.packing, inputs, seed=3)
    return folded(job, run.frames.values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_gives_the_same_answer_or_is_refused(kind: str, inputs: Path) -> None:
    wrong = {}
    for rule in RULES:
        try:
            wrong[rule] = difference(answer(kind, "changes", inputs), answer(kind, rule, inputs))
            assert rule not in KINDS[kind][1], f"{rule} is not refused any more"
        except QueryError as error:
            wrong[rule] = "" if rule in KINDS[kind][1] and error.instead else str(error)
    assert not any(wrong.values()), {rule: text for rule, text in wrong.items() if text}
