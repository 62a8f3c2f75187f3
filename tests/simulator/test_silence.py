"""Followed files with silences: no row is late for the silence, and where rows are current, the wall clock closes their windows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from ouzel.runtime.simulator.world import World
from ouzel.session import load_text
from tests.effort import seeds

TEXT = """
CREATE TABLE ticks (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND IDLE AFTER INTERVAL '3' SECOND)
WITH ('connector' = 'file', 'path' = 'ticks-*.jsonl', 'format' = 'json', 'follow' = 'true');
SELECT window_end, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND))
GROUP BY window_start, window_end;
"""
SILENCES_S = (0.1, 0.5, 2.5, 3.1, 7.5, 20)
SETTINGS = (("parallelism", "2"), ("containers", "2"), ("ack.timeout.ms", "2000"))


class Trickle:
    """Appends rows to a few files while the world's clock goes on, with silences between."""

    def __init__(self, directory: Path, seed: int, files: int, delay_s: int) -> None:
        self.files = [directory / f"ticks-{number}.jsonl" for number in range(files)]
        for file in self.files:
            file.touch()
        job = load_text(TEXT.format(delay=delay_s), directory, "ticks", (*SETTINGS, ("seed", str(seed + 1))))
        self.world = World(job.topology, job.packing, directory, seed)
        self.world.delay_ms = Random(seed).choice([0.0, 5.0, 100.0])
        self.written = 0

    @property
    def now(self) -> datetime:
        """The wall clock."""
        micros = self.world.wall_zero_us + int(self.world.now_ms * 1000)
        return datetime.fromtimestamp(micros / 1e6, UTC).replace(tzinfo=None)

    def write(self, random: Random, ts: datetime) -> None:
        """Append a row."""
        with random.choice(self.files).open("a") as file:
            file.write(f'{{"ts": "{ts.isoformat(sep=" ", timespec="milliseconds")}"}}\n')
        self.written += 1

    def wait(self, seconds: float) -> None:
        """Let the clock go on, and the topology do whatever it wants to meanwhile."""
        end = self.world.now_ms + 1000 * seconds
        while self.world.now_ms < end:
            while self.world.step():
                self.world.now_ms += 0.1
            self.world.now_ms += min(500.0, max(end - self.world.now_ms, 1.0))

    @property
    def late(self) -> int:
        """Rows counted as late."""
        return sum(host.machine.metrics().rows_late for host in self.world.hosts.values())

    @property
    def counted(self) -> int:
        """Rows in windows that have closed."""
        return sum(int(frame["many"].sum()) for frame in self.world.frames.values())


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize(("files", "delay_s"), [(1, 0), (2, 3)])
def test_rows_of_now_are_never_late_and_their_last_window_closes(
    seed: int, files: int, delay_s: int, tmp_path: Path
) -> None:
    random, trickle = Random(seed), Trickle(tmp_path, seed, files, delay_s)
    lag_s = random.choice([0, 0.4, 2])
    for number in range(20):
        behind = lag_s if number < 5 or not delay_s else random.random() * lag_s
        trickle.write(random, trickle.now - timedelta(seconds=behind))
        trickle.wait(random.choice(SILENCES_S))
    assert trickle.late == 0
    trickle.wait(3 + lag_s + delay_s + 2)
    assert (trickle.late, trickle.counted) == (0, trickle.written)


@pytest.mark.parametrize("seed", seeds())
def test_a_replay_of_the_past_waits_for_its_next_row_however_long_that_takes(seed: int, tmp_path: Path) -> None:
    random, trickle = Random(seed), Trickle(tmp_path, seed, 1, 0)
    ts = datetime(2013, 1, 1)
    for _ in range(20):
        ts += timedelta(seconds=random.choice([1, 1.4, 3.1]))
        trickle.write(random, ts)
        trickle.wait(random.choice(SILENCES_S))
    trickle.wait(10)
    assert (trickle.late, trickle.counted) == (0, trickle.written - 1), "the last window is still open"
