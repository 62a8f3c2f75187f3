"""State that an update of the topology hands on: under other names, or begun empty in place of another."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import StateError
from ouzel.planner.former import EMPTY
from ouzel.runtime.checkpoints.redistribute import place_states
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.operators.keyed.aggregate import PartialAggregation
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.restoring import restore_states
from ouzel.session import load_text

TABLE = (
    "CREATE TABLE t (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'datagen', 'rows' = '9', 'fields.ts.kind' = 'sequence');\n"
)
DISTINCT = "SELECT n % 2 AS k, COUNT(DISTINCT n) AS kinds, MAX(CAST(n AS VARCHAR)) AS most FROM t GROUP BY n % 2;"
WINDOWS = (
    "SELECT window_end, SUM(n) AS total FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end EMIT CHANGES;"
)
MINUTE_US = 60_000_000
NOON = datetime(2026, 1, 1, 12)


def chain_of(query: str) -> Chain:
    """The chain that keeps something."""
    job = load_text(TABLE + query, Path(), "q", [("seed", "3")])
    chains = (build_chain(one.chain, job.settings) for one in job.topology.components)
    return next(chain for chain in chains if chain.states)


def rows_for(chain: Chain, *values: int) -> pl.DataFrame:
    """Rows of the input of a DISTINCT count."""
    schema = chain.operators[0]._node.input.schema  # type: ignore[attr-defined]
    columns = {
        name: [value % 2 if place == 0 else value for value in values] for place, name in enumerate(schema.names)
    }
    return pl.DataFrame(columns).cast(dict(schema.polars().items()))


def snapshot_of(chain: Chain, time_us: int = MINUTE_US) -> TaskSnapshot:
    """What the chain keeps."""
    return TaskSnapshot("counts", 0, tuple(state.snapshot() for state in chain.states), {}, time_us)


def test_state_goes_on_under_other_names() -> None:
    old, new = (
        chain_of(DISTINCT),
        chain_of(DISTINCT.replace("kinds", "others").replace("most", "top").replace("AS k", "AS g")),
    )
    old.process(rows_for(old, 1, 2, 3, 3))
    restore_states(new, [place_states(snapshot_of(old), (0,))])
    for chain in (old, new):
        chain.process(rows_for(chain, 5, 5, 3))
    before, after = snapshot_of(old).states[0], snapshot_of(new).states[0]
    assert [part.rows() for part in before.parts.values()] == [part.rows() for part in after.parts.values()]
    assert list(before.parts) != list(after.parts)


def test_state_under_other_names_is_refused_unless_it_is_handed_on() -> None:
    old, new = chain_of(DISTINCT), chain_of(DISTINCT.replace("kinds", "others"))
    with pytest.raises(StateError):
        restore_states(new, [snapshot_of(old)])


def test_state_of_another_make_is_refused_though_it_is_handed_on() -> None:
    old, new = chain_of(DISTINCT), chain_of("SELECT n % 2 AS k, COUNT(*) AS c FROM t GROUP BY n % 2;")
    old.process(rows_for(old, 1))
    with pytest.raises(StateError):
        restore_states(new, [place_states(snapshot_of(old), (0,))])


def test_what_begins_empty_knows_what_was_late() -> None:
    wider = WINDOWS.replace("'10'", "'20'")
    kept, emptied, fresh = chain_of(WINDOWS), chain_of(wider), chain_of(wider)
    noon_us = int(NOON.replace(tzinfo=UTC).timestamp() * 1_000_000)
    restore_states(emptied, [place_states(snapshot_of(kept, noon_us), (EMPTY,))])
    restore_states(fresh, [place_states(replace(snapshot_of(kept), time_us=-(1 << 63)), (EMPTY,))])
    for chain, late in ((emptied, 1), (fresh, 0)):
        chain.process(late_row(chain))
        assert chain.late == late


def late_row(chain: Chain) -> pl.DataFrame:
    """A partial aggregate of a row of an hour before noon."""
    aggregate = chain.operators[0]._node  # type: ignore[attr-defined]
    schema = aggregate.input.schema.polars()
    early = {name: [NOON.replace(hour=11) if kind.is_temporal() else 1] for name, kind in schema.items()}
    made = PartialAggregation(aggregate, 3).process(pl.DataFrame(early).cast(dict(schema)))
    assert made is not None
    return made
