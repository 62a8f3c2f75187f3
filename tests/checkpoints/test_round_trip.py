"""Snapshots of any frames, numbers and names come back as they were."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from polars.testing.parametric import dataframes

from ouzel.runtime.checkpoints.manifest import TaskFiles
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.state.context import KeyGroups, Snapshot
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from tests.checkpoints.samples import SEED, claimed, task
from tests.effort import examples

KEPT = [
    pl.Boolean, pl.Int8, pl.Int32, pl.Int64, pl.UInt16, pl.UInt64, pl.Float32, pl.Float64, pl.String, pl.Binary, pl.Date, pl.Time,
    pl.Datetime("us"), pl.Duration("us"), pl.Decimal, pl.List, pl.Struct, pl.Array, pl.Null,
]  # fmt: skip
NUMBERS = st.integers(-(2**70), 2**70)
PLACES = st.dictionaries(st.text(), st.builds(Place, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=3)
FRAMES = dataframes(max_cols=4, max_size=5, allowed_dtypes=KEPT, allow_masked=False)
STATES = st.builds(
    Snapshot, st.text(), st.builds(KeyGroups, st.integers(0, 500), st.integers(501, 1024)), NUMBERS, st.just(1), st.just(True),
    st.dictionaries(st.text(), FRAMES, max_size=2), NUMBERS,
)  # fmt: skip
COUNTS = st.dictionaries(st.text(), NUMBERS)
SNAPSHOTS = st.builds(
    TaskSnapshot, st.text(), st.integers(0, 5000), st.lists(STATES, max_size=2).map(tuple), PLACES, NUMBERS, COUNTS
)  # fmt: skip


def kept_again(store: CheckpointStore, snapshot: TaskSnapshot, epoch: int = 1) -> TaskSnapshot:
    """The snapshot, written and read."""
    file = store.write_task(epoch, snapshot)
    return store.read_task(TaskFiles(snapshot.component, snapshot.index, (file,)))[0]


@settings(max_examples=examples(40))
@given(SNAPSHOTS, st.integers(1, 2**80))
def test_any_snapshot_comes_back(snapshot: TaskSnapshot, epoch: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        again = kept_again(claimed(Path(folder)), snapshot, epoch)
    for before, after in zip(snapshot.states, again.states, strict=True):
        assert list(before.parts) == list(after.parts)
        for name, part in before.parts.items():
            assert_frame_equal(after.parts[name], part)
            assert after.parts[name].schema == part.schema
    assert _without_frames(again) == _without_frames(snapshot)


def _without_frames(snapshot: TaskSnapshot) -> object:
    told = [(one.operator, one.groups, one.seed, one.number, one.whole, one.hash_version) for one in snapshot.states]
    return (snapshot.component, snapshot.index, told, snapshot.places, snapshot.time_us, snapshot.counts)


def test_floats_keep_their_bits(tmp_path: Path) -> None:
    bits = [0, 1 << 63, 0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) | 5, 1, 0x7FF0 << 48]
    floats = np.array(bits, np.uint64).view(np.float64)
    state = Snapshot(
        "op", KeyGroups(), SEED, 1, True, {"f": pl.DataFrame({"f": floats, "l": [[value] for value in floats]})}
    )
    again = kept_again(claimed(tmp_path), task(state)).states[0].parts["f"]
    assert (
        again["f"].to_numpy().view(np.uint64).tolist()
        == again["l"].explode().to_numpy().view(np.uint64).tolist()
        == bits
    )


def test_empty_and_chunked_frames_come_back(tmp_path: Path) -> None:
    frame = pl.DataFrame({"s": ["a", None], "n": [[1], []], "e": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"]))})
    parts = {
        "whole": frame,
        "none": frame.clear(),
        "chunks": pl.concat([frame, frame, frame.clear()], rechunk=False),
        "no columns": pl.DataFrame(),
    }
    again = kept_again(claimed(tmp_path), task(Snapshot("op", KeyGroups(), SEED, 1, True, parts)))
    for name, part in parts.items():
        assert_frame_equal(again.states[0].parts[name], part)


def test_a_slice_of_a_large_frame_is_written_alone(tmp_path: Path) -> None:
    frame = pl.DataFrame({"s": [f"a text of some length {number}" for number in range(20_000)]}).slice(7, 3)
    file = claimed(tmp_path).write_task(1, task(Snapshot("op", KeyGroups(), SEED, 1, True, {"s": frame})))
    assert file.size < 2_000
