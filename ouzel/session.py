"""From a file of SQL to a running topology, step by step: load -> compile -> plan -> pack -> start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ouzel.compiler.plan import Program
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.run import Handle


@dataclass(frozen=True)
class Job:
    """One query file, compiled, planned and packed. `directory` is where relative paths of its tables start."""

    text: str
    directory: Path
    program: Program
    settings: Settings
    topology: Topology
    packing: PackingPlan


def load(path: Path, pairs: Iterable[tuple[str, str]] = ()) -> Job:
    """Compile and plan a file of SQL; `pairs` are settings that win over the file's own SET statements.

    Raises:
        QueryError: the query is wrong or not supported.
        PlanError: it cannot be packed.
    """
    raise NotImplementedError


def start(job: Job, engine: str = "heron") -> Handle:
    """Run the job on `heron` (real processes) or `memory` (the simulator without faults)."""
    raise NotImplementedError
