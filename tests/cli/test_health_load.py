"""A word count under four times the load gets more tasks by itself, and fewer when the load goes; every word is counted once."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from threading import Event, Thread

import pytest

import ouzel
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.acting.carrying import ActionRunner
from ouzel.tracker.health import manager, sensors
from ouzel.tracker.health.manager import HealthManager
from ouzel.tracker.health.memory_file import load_memory
from ouzel.tracker.health.regulator import Patience
from ouzel.tracker.health.treatments import Treatment, TreatmentOutcome
from ouzel.tracker.topologies.watching import TopologyWatcher
from tests.cli.test_submitted import Place, place
from tests.servers.waiting import wait_until

__all__ = ["place"]
pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(1_500)]

WAITS_S = 0.04
"""For each of two rows by which a batch changes a word's count: the one that is taken back, and the one that comes. On a machine with other
work a wait is some 6 ms longer; were that much of it, a task would manage far less under load than the load that the test ends with."""

PADDING = 80_000
"""What waits for a task is seen only beyond its socket, which takes a megabyte or two: so words are long, and the 100 that may be on
their way are eight megabytes. No more fits into a link, four times the high watermark: what it drops comes again after 30 s.
"""

MODULE = f"""
import time
import ouzel


@ouzel.function(("VARCHAR",), "VARCHAR", by_row=True)
def slowly(word: str | None) -> str | None:
    time.sleep({WAITS_S})
    return word and word.rstrip("x")
"""

QUERY = """
SET 'health.policy' = 'rescale'; SET 'health.tasks.max' = '4'; SET 'checkpoint.interval.ms' = '1000';
SET 'batch.rows' = '5'; SET 'max.pending.rows' = '100'; SET 'high.watermark.bytes' = '2000000'; SET 'low.watermark.bytes' = '500000';
CREATE TABLE lines (word VARCHAR) WITH ('connector' = 'file', 'path' = 'lines.jsonl', 'format' = 'json', 'follow' = 'true');
SELECT SLOWLY(word) AS word, n
FROM (SELECT word, COUNT(*) AS n FROM lines GROUP BY word) AS s EMIT CHANGES;
"""

USUAL_S, STEP = 3.75, 4
"""Words a second, and how many times as many come under load: a task manages 12 at most."""

LIMIT_S = 600.0


class Words(Thread):
    """Writes words at a rate that may be changed; `counts` are how often each was."""

    def __init__(self, place: Place) -> None:
        super().__init__(daemon=True)
        self._file, self._ends, self.counts, self.rate_s = place.lines, Event(), Counter[str](), USUAL_S

    def run(self) -> None:
        """Ten times a second some."""
        number, due, before_s = 0, 0.0, time.monotonic()
        while not self._ends.wait(0.1):
            due, before_s = due + self.rate_s * (time.monotonic() - before_s), time.monotonic()
            words = [f"word{(number + place) * 7 % 101}" for place in range(int(due))]
            number, due = number + len(words), due - len(words)
            with self._file.open("a") as file:
                file.writelines(json.dumps({"word": word + PADDING * "x"}) + "\n" for word in words)
            self.counts.update(words)

    def stop(self) -> None:
        """No more come."""
        self._ends.set()
        self.join()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes minutes takes seconds."""
    for name, value in {"SPAN_S": 40, "TREND_S": 60, "LONG_S": 60, "YOUNG_S": 20, "STEPS_MIN": 2}.items():
        monkeypatch.setattr(sensors, name, value)
    monkeypatch.setattr(manager, "YOUNG_S", 20)


@pytest.mark.usefixtures("soon")
def test_a_word_count_is_scaled_by_itself_and_comes_back(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.root / "slow_words.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(place.root))
    from slow_words import slowly  # type: ignore[import-not-found]  # written above

    monkeypatch.chdir(place.root)
    words = Words(place)
    words.start()
    registry = Registry(place.home)
    watcher = TopologyWatcher(registry)
    patience = Patience(lasts_s=5.0, settle_s=60.0)
    care = HealthManager(watcher, ActionRunner(registry.home).run, patience=patience)
    try:
        ouzel.submit(ouzel.query(QUERY, functions=[slowly]), "words").let_go()
        wait_until(lambda: bool(place.rows("words")))
        words.rate_s = STEP * USUAL_S

        def find(resolver: str) -> Treatment | None:
            done = load_memory(registry, "words").treatments
            return next(
                (one for one in done if one.resolver == resolver and one.outcome is TreatmentOutcome.HELPED), None
            )

        up = look_until(care, lambda: find("scale-up"))
        assert (up.had, up.tasks) == (1, 2)
        words.rate_s = USUAL_S
        down = look_until(care, lambda: find("scale-down"))
        assert (down.had, down.tasks, down.component) == (2, 1, up.component)
        assert f"{up.component} from 1 to 2 tasks, for under-provisioned" in place.told("status", "words")
    finally:
        words.stop()
        watcher.close()
    wait_until(lambda: {row["word"]: row["n"] for row in place.rows("words")} == words.counts)


def look_until(care: HealthManager, found: Callable[[], Treatment | None]) -> Treatment:
    """Have health looked after until that is found."""
    said: list[str] = []

    def look() -> Treatment | None:
        said.extend(care.look(time.time))
        return found()

    wait_until(look, LIMIT_S, lambda: "\n".join(said), look_s=1.0)
    one = found()
    assert one is not None
    return one
