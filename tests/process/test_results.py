"""Results on their way to the client: what a task has handed over is there after the client has caught up, however slow it is."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from ouzel.runtime.process.results import ResultReader, ResultWriter


def test_what_was_handed_over_before_is_there_when_the_client_has_caught_up() -> None:
    taken: list[int] = []

    def deliver(frame: pl.DataFrame) -> None:
        time.sleep(0.001)
        taken.extend(frame["n"])

    with TemporaryDirectory(prefix="ouzel-") as name:
        reader = ResultReader(Path(name), deliver)
        writers = [ResultWriter(Path(name), task) for task in range(3)]
        for round_number in range(5):
            for task, writer in enumerate(writers):
                for number in range(10):
                    writer.write(100 * round_number + number, pl.DataFrame({"n": [task]}))
            reader.catch_up(10)
            assert len(taken) == 30 * (round_number + 1)
        writers[0].write(1, pl.DataFrame({"n": [7]}))
        reader.catch_up(10)
        assert 7 not in taken, "a batch that comes again is taken once"
        writers[0].write(999, pl.DataFrame({"n": [8]}))
        reader.close()
        assert taken[-1] == 8, "what was left in the sockets comes with the end"
        reader.catch_up(10)
