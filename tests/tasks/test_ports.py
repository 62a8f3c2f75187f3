"""A bolt of several inputs: whose rows, and whose time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.planner.settings import BadRecordPolicy, Settings
from ouzel.planner.topology import Task
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.groupings import OutputStream
from ouzel.runtime.protocol.messages import Data, Instruction, Root, Send, TimeStatus, Watermark
from ouzel.runtime.protocol.quarantine import MemoryNote, Quarantine
from ouzel.runtime.protocol.task import Links, Port, TaskSetup
from ouzel.runtime.tasks.bolt import ChainBolt
from ouzel.runtime.tasks.refusals import Refusals

LEFT, LEFT_TOO, RIGHT = 10, 11, 20
"""Tasks that write streams 0, 1 and 2; the first two are one input, as under a union."""

COLUMNS = (["a", WEIGHT], ["b", "c"])


@dataclass
class Noting(Operator):
    """Notes what it is told."""

    stateful = True
    told: list[object] = field(default_factory=list)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        self.told.append((port, frame.columns, frame.rows()))
        return None

    def advance_port(self, port: int, watermark_us: int) -> pl.DataFrame | None:
        self.told.append((port, watermark_us))
        return pl.DataFrame({"a": [watermark_us]}) if watermark_us == 70 else None

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        self.told.append(watermark_us)
        return None


def bolt() -> tuple[ChainBolt, list[object]]:
    operator = Noting()
    ports = {0: Port(0, (LEFT,)), 1: Port(0, (LEFT_TOO,)), 2: Port(1, (RIGHT,))}
    outlet = OutputStream(3, [([2], lambda rows, _id, _task: [(0, rows)])])
    links = Links((LEFT, LEFT_TOO, RIGHT), {"default": outlet}, frozenset({LEFT, LEFT_TOO, RIGHT}), ports=ports)
    refusals = Refusals(BadRecordPolicy.FAIL, Path("unused"))
    setup = TaskSetup(Task(1, "both", 0), links, Settings())
    made = ChainBolt(setup, Chain([operator]), COLUMNS, refusals, Quarantine(MemoryNote()))
    return made, operator.told


def data(stream: int, source: int, number: int, **columns: object) -> Data:
    return Data(stream, source, 1, number, (Root(source, number, 0),), pl.DataFrame(columns))


def time(source: int, time_us: int, status: TimeStatus = TimeStatus.ACTIVE) -> Watermark:
    return Watermark(source, 1, time_us, status)


def test_rows_come_under_their_inputs_columns_together_input_by_input() -> None:
    made, told = bolt()
    made.handle(
        [
            data(0, LEFT, 101, a=[1], **{WEIGHT: [-1]}),
            data(2, RIGHT, 102, x=[5], y=["u"]),
            data(1, LEFT_TOO, 103, z=[2]),
            data(2, RIGHT, 104, x=[6], y=["v"]),
        ],
        0.0,
    )
    assert told == [(0, ["a", WEIGHT], [(1, -1), (2, 1)]), (1, ["b", "c"], [(5, "u"), (6, "v")])]


def test_each_input_has_its_time_and_all_have_the_least() -> None:
    made, told = bolt()
    made.handle([time(LEFT, 50), time(LEFT_TOO, 40)], 0.0)
    assert told == [(0, 40)], "the other input says nothing yet"
    made.handle([time(RIGHT, 30)], 1.0)
    assert told[1:] == [(1, 30), 30]
    made.handle([time(LEFT_TOO, 60)], 2.0)
    assert told[3:] == [(0, 50)]
    made.handle([time(LEFT_TOO, 55)], 3.0)
    assert told[4:] == [], "time never goes back"


def test_an_input_that_has_ended_says_so_while_the_other_goes_on() -> None:
    made, told = bolt()
    made.handle([time(RIGHT, (1 << 63) - 1, TimeStatus.FINISHED)], 0.0)
    assert told == [(1, (1 << 63) - 1)]
    made.handle([time(LEFT, 50), time(LEFT_TOO, 40)], 1.0)
    assert told[1:] == [(0, 40), 40]


def test_what_the_time_of_one_input_lets_out_is_sent_before_time_is_passed_on() -> None:
    made, _ = bolt()
    sent = made.handle([time(RIGHT, 70)], 0.0)
    assert [type(one.message) for one in sent if isinstance(one, Send)] == [Data]
    sent = made.handle([time(LEFT, 80), time(LEFT_TOO, 90)], 1.0)
    assert not watermarks(sent), "what was let out is not acked yet"


def watermarks(instructions: list[Instruction]) -> list[int]:
    return [one.message.time_us for one in instructions if isinstance(one, Send) and isinstance(one.message, Watermark)]
