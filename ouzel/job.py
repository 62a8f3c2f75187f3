"""From a file of SQL to what can be run: compiled, planned and packed."""

from __future__ import annotations

import difflib
import os
import re
import secrets
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.callers import users_level
from ouzel.compiler.catalog import ConnectorTraits, QueryWarning, Secret, SecretWarning
from ouzel.compiler.depth import room_for_depth
from ouzel.compiler.plan import Program, Scan, reads_for_itself, scans_in, walk
from ouzel.compiler.plan.depth import refuse_deep_plans
from ouzel.errors import QueryError
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Topology

if TYPE_CHECKING:
    from ouzel.compiler.functions.known import Row


_CALLED = {
    **dict.fromkeys(("table", "collect", "to_pandas", "to_polars", "df", "rows", "show", "fetchall", "result", "results"), "table"),
    **dict.fromkeys(("run", "execute", "wait", "write"), "run"),
    **dict.fromkeys(("start", "changes", "status", "stop"), "start"),
    "submit": "submit",
}  # fmt: skip
"""What others call on a query itself, and the function of `ouzel` that takes one here."""


_PLANS = frozenset(
    ("plan", "print", "print_plan", "describe", "get_execution_plan", "explain_sql", "show_plan", "schema")
)
"""What others call to see a plan."""


@dataclass(frozen=True, repr=False)
class Job:
    """One query file, compiled, planned and packed.

    Attributes:
        text: the query as whoever runs it again needs it: nothing has to be found for it, and it holds no secret. What was typed, to which
            all places in the plan belong, is `program.text`.
        directory: where relative paths of its tables start.
    """

    text: str
    directory: Path
    program: Program
    topology: Topology
    packing: PackingPlan

    def __repr__(self) -> str:
        """In a shell; a notebook shows the whole plan."""
        return f"<query {self.topology.name}: {len(self.topology.components)} components; ouzel.table(query) gives its answer>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            told = f"; write ouzel.{_CALLED[name]}(query)" if name in _CALLED else ""
            told = "; call explain(), which shows its plan" if name in _PLANS else told
            raise AttributeError(f"a compiled query has no {name}{told}")

    @property
    def settings(self) -> Settings:
        """The topology's, whichever engine runs the query."""
        return self.topology.settings

    def explain(self) -> str:
        """The plan, the topology and its packing, as text."""
        from ouzel.explain import explain

        return explain(self.program, self.topology, self.packing)

    def _repr_html_(self) -> str:
        """What the query becomes, for a notebook."""
        return f"<pre>{escape(self.explain())}</pre>"


def connector_traits(directory: Path = Path()) -> Mapping[str, ConnectorTraits]:
    """The table of connectors as the compiler sees it; relative paths start at `directory`."""
    from ouzel.connectors import CONNECTORS
    from ouzel.traits import TraitsByName

    return TraitsByName(CONNECTORS, directory)


def load(path: Path, pairs: Iterable[tuple[str, str]] = (), functions: Iterable[Row] = ()) -> Job:
    """Compile and plan a file of SQL, which may call `functions` too; `pairs` are settings that win over the file's own SET statements.

    Raises:
        QueryError: the query is wrong or not supported.
        PlanError: it cannot be packed.
    """
    try:
        text = path.read_text()
    except OSError as error:
        near = difflib.get_close_matches(path.name, [one.name for one in path.parent.glob("*.sql")], 1)
        advice = f"did you mean {path.with_name(near[0])}?" if near else f"paths are relative to {Path.cwd()}"
        raise QueryError(f"cannot read {path}: {error.strerror}", instead=advice) from error
    except UnicodeDecodeError as error:
        raise QueryError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    return load_text(text, path.resolve().parent, path.stem, pairs, functions)


def load_text(
    text: str, directory: Path, name: str, pairs: Iterable[tuple[str, str]] = (), functions: Iterable[Row] = ()
) -> Job:
    """As `load`, for SQL in a string; `name` becomes the topology's unless 'query.name' is set."""
    try:
        with room_for_depth():
            return _load_text(text, directory, name, pairs, functions)
    except RecursionError:
        advice = "compute parts of it in views that are written to tables of their own"
        raise QueryError("the query is nested too deep to be planned", instead=advice) from None


def _load_text(
    text: str, directory: Path, name: str, pairs: Iterable[tuple[str, str]], functions: Iterable[Row]
) -> Job:
    """The steps, each from one value to the next: define, parse, hide secrets, bind, plan, topology, packing."""
    from ouzel.compiler.functions.known import with_own
    from ouzel.compiler.sql.program import bind_script
    from ouzel.compiler.sql.script import parse_script
    from ouzel.compiler.sql.statements.defining import with_definitions
    from ouzel.compiler.sql.statements.secrets import hide_secrets
    from ouzel.planner.packing import pack

    connectors, pairs = connector_traits(directory), tuple(pairs)
    text, notes = with_definitions(text, connectors)
    script = hide_secrets(parse_script(text, with_own(functions)), connectors, _put_into_environment)
    try:
        program = bind_script(script, connectors, settings=pairs)
    except QueryError:
        _warn((*notes, *script.source.notes()))  # a column that was found otherwise than meant may be why
        raise
    _warn((*notes, *program.notes))
    settings = _settings(program, pairs)
    filters = frozenset(key for key, connector in connectors.items() if connector.filters)
    program = _plan(program, settings, directory, filters)
    topology = _topology(program, settings, settings.query_name or re.sub(r"\W+", "_", name) or "query", filters)
    packing = pack(topology) if program.sinks else PackingPlan(())
    return Job(program.text_to_run_again, directory, program, topology, packing)


def _warn(notes: Iterable[str]) -> None:
    for note in notes:
        warnings.warn(note, QueryWarning, stacklevel=users_level())


def _settings(program: Program, pairs: tuple[tuple[str, str], ...]) -> Settings:
    with _point_at(program):
        settings = Settings().with_values(program.settings)
    return settings.with_values(pairs)


def _plan(program: Program, settings: Settings, directory: Path, filters: frozenset[str]) -> Program:
    """What both the topology and the batch job are made of: joins read small tables whole, and what is equal is there once.

    Raises:
        QueryError: the plan is too deep, or a table's input cannot be read.
    """
    from ouzel.listings import fill_listing
    from ouzel.planner.rules import apply_shared_rules

    refuse_deep_plans(program.sinks)
    _check_inputs(program, directory)
    program = apply_shared_rules(_with_small_tables(program, settings, directory), filters)
    listings = tuple(fill_listing(listing, settings) for listing in program.listings)
    return replace(program, notes=(), listings=listings)


def _topology(program: Program, settings: Settings, name: str, filters: frozenset[str]) -> Topology:
    from ouzel.planner.build import plan_topology

    with _point_at(program):
        return plan_topology(program, settings, name, filters)


def _check_inputs(program: Program, directory: Path) -> None:
    """Refuse what no engine can read, before any begins, and tell of what is hardly meant.

    Raises:
        QueryError: a table's input cannot be read.
    """
    from ouzel.connectors import load_function, reads_of

    for scan in {scan.table: scan for sink in program.sinks for scan in scans_in(walk(sink))}.values():
        reads = reads_of(scan.connector, scan.table)
        problem = load_function(scan.connector, reads.refuses)(dict(scan.options), directory) if reads.refuses else ""
        if problem:
            raise QueryError(f"table '{scan.table}': {problem}")
        if reads.suspects:
            own = [name for name in scan.columns.names if name not in dict(scan.metadata)]
            told = load_function(scan.connector, reads.suspects)(dict(scan.options), own, directory)
            _warn(f"table '{scan.table}': {note}" for note in told)


def _with_small_tables(program: Program, settings: Settings, directory: Path) -> Program:
    """The program with joins that read their small tables whole, where it makes no difference to what is refused or left out."""
    from ouzel.connectors import load_function, reads_of
    from ouzel.planner.settings import BadRecordPolicy
    from ouzel.planner.small_tables import read_small_tables_whole

    def size_of(scan: Scan) -> int | None:
        told = reads_of(scan.connector, scan.table).side_table.size
        return load_function(scan.connector, told)(dict(scan.options), directory) if told else None

    if settings.forgets or settings.error_policy is not BadRecordPolicy.FAIL:
        return program
    return read_small_tables_whole(program, size_of)


def _put_into_environment(secret: Secret) -> str:
    """The variable that holds the secret from now on, for this process and those that it starts; one that holds another query's stays."""
    names = (f"{secret.variable}_{number}" if number > 1 else secret.variable for number in count(1))
    variable = next(name for name in names if os.environ.get(name) in (None, "", secret.value))
    os.environ[variable] = secret.value
    advice = "write '${env:NAME}', and put it into the environment"
    warnings.warn(
        f"'{secret.option}' of table '{secret.table}' stands in the query; {advice}",
        SecretWarning,
        stacklevel=users_level(),
    )
    return variable


@contextmanager
def _point_at(program: Program) -> Iterator[None]:
    """What the planner says of a hint or a setting points at where that was written."""
    try:
        yield
    except QueryError as error:
        program.locate(error)
        raise


def with_settings(job: Job, settings: Settings) -> Job:
    """The job with other settings."""
    return replace(job, topology=replace(job.topology, settings=settings))


def mark_sides(job: Job) -> Job:
    """The job with what the tables hold now that its tasks read whole, unless that is known.

    Raises:
        ConnectorError: one of them is not there.
    """
    reads = any(reads_for_itself(node) for part in job.topology.components for node in part.chain)
    if not reads or job.topology.sides:
        return job
    from ouzel.runtime.tasks.sides import with_contents

    return replace(job, topology=with_contents(job.topology, job.directory))


def draw_seed(job: Job) -> Job:
    """The job with a seed drawn for its run, unless it has one."""
    if job.settings.seed:
        return job
    return with_settings(job, replace(job.settings, seed=secrets.randbits(63)))
