"""No test sleeps and hopes: it waits for what it needs, by tests/servers/waiting.py; whoever sleeps all the same has a reason here."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from tests.house.source import ROOT, listed, python, short

WAITING, OWN = "tests/servers/waiting.py", "tests/house/test_waiting.py"

SLEEPS = {
    WAITING: "the one place that looks again and again",
    "tests/attack/attacks.py": "an attack strikes at a moment drawn at random, and leaves a process stopped for a time drawn at random",
    "tests/cli/test_health_load.py": "a function that waits on purpose, as one that asks a server",
    "tests/connectors/test_postgres.py": "a trigger in the database takes long on purpose",
    "tests/fire/faults.py": "a server that was killed stays away for a while",
    "tests/law/test_kafka_outage.py": "the engine's own clock, which sleeps when the engine does",
    "tests/process/test_overload.py": "a bolt that is slow on purpose",
    "tests/process/test_quarantine.py": "a bolt that never comes back on purpose",
    "tests/process/test_results.py": "a client that is slow on purpose",
    "tests/process/test_slow_code.py": "a bolt that is slow, and a spout that blocks, on purpose",
    "tests/process/topologies.py": "a bolt that is slow on purpose",
    "tests/servers/proxy.py": "a network that is slow on purpose",
}
"""Which files sleep, and why each does."""

DEADLINES = {
    WAITING: "the one rule for all that is waited for",
    "tests/attack/__main__.py": "attacks go on for as long as was asked for",
    "tests/law/engines.py": "it waits for the end of a run, and tells the lack of one as an error of the run",
    "tests/process/test_life.py": "a process that beats until it is killed",
    "tests/process/topologies.py": "a spout that is slow on purpose",
}
"""Which files compare the clock with a time, and why each does."""

SLEEP, DEADLINE = re.compile(r"sleep\("), re.compile(r"monotonic\(\) *[<>]|[<>]=? *time\.monotonic\(\)")


@pytest.mark.parametrize(("pattern", "reasons"), [(SLEEP, SLEEPS), (DEADLINE, DEADLINES)], ids=["sleeps", "deadlines"])
def test_tests_wait_in_one_place(pattern: re.Pattern[str], reasons: Mapping[str, str]) -> None:
    found = {
        short(path): [
            f"{short(path)}:{number}: {line.strip()}"
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if pattern.search(line)
        ]
        for path in python()
        if path.is_relative_to(ROOT / "tests") and short(path) != OWN
    }
    bare = [place for name, places in found.items() if name not in reasons for place in places]
    assert not bare, f"wait for what the test needs, by wait_until of {WAITING}:{listed(bare)}"
    assert not [name for name in reasons if not found.get(name)], "they wait no more: take their reasons away"
