"""What whoever waits for a table is told that its rows do not show: that it never comes, and that rows were too late for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import timedelta

from ouzel.callers import users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.expressions import Call, Column, Expression, Literal
from ouzel.compiler.plan import Node, Program, Sink, walk
from ouzel.planner.endless import endless_tables
from ouzel.planner.settings import Settings
from ouzel.runtime.run import Status


def warn_of_endless_table(sink: Sink) -> None:
    """Warn of a table that never comes, for its input has no end."""
    names = endless_tables(sink)
    if names:
        warnings.warn(
            f"table() gives its table at the end of the input, and {' and '.join(names)} never end{'s' * (len(names) == 1)}; "
            "write start() or changes() and loop over what comes, or show(10) of a stream",
            QueryWarning,
            stacklevel=users_level(),
        )


def warn_of_late(status: Status, program: Program, settings: Settings) -> None:
    """Warn of rows that came behind the watermark, where nobody has said how late rows may come, and nobody reads those that do."""
    nodes = list(_nodes_of(program))
    if not status.rows_late or settings.late_path or any(node.reads_late for node in nodes):
        return
    if any(_has_no_delay(node.declares_time) for node in nodes):
        warnings.warn(
            f"{status.rows_late:,} of {status.rows_in:,} rows came behind the newest time before them, and with no delay they are in no "
            "window; write event_time(column, timedelta(minutes=1)), in SQL WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE",
            QueryWarning,
            stacklevel=users_level(),
        )


def _has_no_delay(watermark: Expression | None) -> bool:
    match watermark:
        case Column():
            return True
        case Call(function="subtract", arguments=(Column(), Literal(value=timedelta() as delay))):
            return not delay
    return False


def _nodes_of(program: Program) -> Iterator[Node]:
    for sink in program.sinks:
        yield from walk(sink)
