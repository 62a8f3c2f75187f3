"""Whether a record is of the query that is asked now, and if not why: a table may have other options, found when it was planned anew."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel import session
from ouzel.compiler.plan import scans_in, walk
from ouzel.errors import OuzelError


def is_same_question(text: str, job: session.Job) -> bool:
    """Whether another text asks the same question: comments, settings and RECONCILE do not matter."""
    meant = _understood(text, job)
    return meant is not None and meant.program.sinks == job.program.sinks


def advise(text: str, job: session.Job) -> str:
    """What to do about a record of another text: name an option that a table was read with then, else run or reconcile another."""
    meant = _understood(text, job)
    then, now = ({}, {}) if meant is None else (_options(meant), _options(job))
    for table in then.keys() & now.keys():
        for name, value in then[table].items():
            if now[table].get(name, value) != value:
                return f"that run read table '{table}' with '{name}' = '{value}': write it into its WITH, or run the query again"
    return "run it again, or reconcile the query that ran"


def _understood(text: str, job: session.Job) -> session.Job | None:
    try:
        return session.load_text(text, job.directory, job.topology.name, functions=job.program.functions)
    except OuzelError:
        return None


def _options(job: session.Job) -> Mapping[str, Mapping[str, str]]:
    return {scan.table: dict(scan.options) for sink in job.program.sinks for scan in scans_in(walk(sink))}
