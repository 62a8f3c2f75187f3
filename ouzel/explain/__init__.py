"""EXPLAIN: what a query was understood to mean, the topology that answers it, and where its tasks live."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from ouzel.compiler.plan import Program
from ouzel.errors import QueryError
from ouzel.explain import as_json, sections
from ouzel.explain.state import list_state
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Topology

USUAL = ("logical", "topology", "packing")
"""What is shown when nothing is asked for."""

DETAILS = (*USUAL, "state", "batch", "streaming")
"""What may be asked for; `state` is what operators keep, `batch` the PySpark job, `streaming` what `--engine spark` runs."""

_ALIASES = {
    "spark": "batch",
    "physical": "topology",
    "parallelism": "topology",
    "watermark": "topology",
    "changelog_mode": "topology",
}


class Explanation(str):
    """A text that a notebook and Python's prompt show as lines, where they show another text as a literal."""

    def __repr__(self) -> str:
        return str(self)


def explain(
    program: Program,
    topology: Topology,
    packing: PackingPlan,
    details: tuple[str, ...] = (),
    width: int = 120,
    colour: bool = False,
    cores: int | None = None,
) -> str:
    """EXPLAIN as text of at most `width` columns; without `colour` it is plain and always the same.

    Of a machine with so many `cores` it says if the tasks are far more than these carry.

    Raises:
        QueryError: there is no such detail.
    """
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, no_color=not colour,
        color_system="standard" if colour else None, highlight=False, soft_wrap=False,
        force_jupyter=False,  # in a notebook it would be shown besides, and the text be empty
    )  # fmt: skip
    shown: dict[str, Callable[[], Any]] = {
        "logical": lambda: sections.logical_section(program),
        "topology": lambda: sections.topology_section(topology),
        "packing": lambda: sections.packing_section(packing, topology, cores),
        "state": lambda: sections.state_section(topology),
        "batch": lambda: sections.batch_section(program, topology.name),
        "streaming": lambda: sections.streaming_section(program, topology.name),
    }
    for detail in select_details(details):
        _print(console, list(shown[detail]()))
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    return Explanation("\n".join(line.rstrip() for line in written.splitlines()).strip("\n") + "\n")


def explain_json(
    program: Program, topology: Topology, packing: PackingPlan, details: tuple[str, ...] = ()
) -> dict[str, Any]:
    """EXPLAIN as data, ready for `json.dumps`.

    Raises:
        QueryError: there is no such detail.
    """
    shown: dict[str, Callable[[], Any]] = {
        "logical": lambda: as_json.describe_nodes(program),
        "topology": lambda: as_json.describe_topology(topology),
        "packing": lambda: as_json.describe_packing(packing),
        "state": lambda: list(list_state(topology)),
        "batch": lambda: _job_text(program, topology.name),
        "streaming": lambda: as_json.describe_streams(program, topology.name),
    }
    return {detail: shown[detail]() for detail in select_details(details)}


def select_details(details: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of DETAILS that these words ask for, in order; the usual ones when there are none.

    Raises:
        QueryError: a word asks for nothing that there is.
    """
    asked = {_ALIASES.get(word.lower(), word.lower()) for word in details} - {"json"}
    unknown = sorted(asked - set(DETAILS))
    if unknown:
        raise QueryError(
            f"EXPLAIN {unknown[0].upper()} is not known",
            instead=f"write EXPLAIN {', '.join(DETAILS).upper()} or just EXPLAIN",
        )
    return tuple(detail for detail in DETAILS if detail in asked) or USUAL


def _job_text(program: Program, name: str) -> str:
    from ouzel.spark.lowering import spark_job

    return spark_job(program, Path("."), name)


def _print(console: Console, parts: list[RenderableType]) -> None:
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))  # a program's lines are not to be broken
