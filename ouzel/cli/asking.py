"""`ouzel log-level` and `ouzel sample`: what is asked of the tasks of a submitted topology for some minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ouzel.cli.choices import Debug, PartName, TopologyName
from ouzel.cli.columns import print_columns
from ouzel.cli.failure import report_errors
from ouzel.printable import printable
from ouzel.runtime.process.asks import MINUTES_MAX, LogLevelName

if TYPE_CHECKING:
    from ouzel.runtime.observe.state_summaries import StateSummary


def set_log_level(
    name: TopologyName,
    level: Annotated[
        LogLevelName, typer.Argument(help="From this level on messages are logged; default ends it at once.")
    ],
    of: PartName = "",
    minutes: Annotated[int, typer.Option(min=1, max=MINUTES_MAX, metavar="N", help="Then it goes back.")] = 10,
    debug: Debug = False,
) -> None:
    """Have tasks of a submitted topology log more, or less, for some minutes.

    It is the level of all of Python's loggers in their processes, also those of your own functions; `ouzel logs` shows what they say.
    It goes back by itself.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.asking import ask_log_level
        from ouzel.runtime.cluster.submitted.registry import Registry

        is_end = level is LogLevelName.DEFAULT
        tasks = ask_log_level(Registry(), name, of, level.value, 0 if is_end else minutes)
        typer.echo(
            f"{_count(tasks)} of '{name}' log as before"
            if is_end
            else f"{_count(tasks)} of '{name}' log from {level.value} on for {minutes} min"
        )


def sample_rows(
    name: TopologyName,
    of: PartName = "",
    minutes: Annotated[
        int | None,
        typer.Option(min=0, max=MINUTES_MAX, metavar="N", help="Sample for so long; 0 ends it.", show_default=False),
    ] = None,
    debug: Debug = False,
) -> None:
    """Show the last rows that passed the operators of a submitted topology, and what these keep: keys, rows, the largest keys.

    Nothing is sampled until --minutes asks for it, and without a row that passes there is nothing to show.
    Of each operator of each task 20 rows are kept, and no more are taken in a second.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.asking import ToldFiles, ask_samples, list_kept_state, list_samples
        from ouzel.runtime.cluster.submitted.registry import Registry
        from ouzel.runtime.protocol.cluster.submitted import Verb

        registry = Registry()
        if minutes is not None:
            tasks = ask_samples(registry, name, of, minutes)
            typer.echo(
                f"{_count(tasks)} of '{name}' sample rows for {minutes} min; `ouzel sample {name}` shows them"
                if minutes
                else f"{_count(tasks)} of '{name}' sample no more rows"
            )
            return
        record, _ = registry.look_up(Verb.STATUS, name)
        told = ToldFiles(registry.folder(name).load(record.run), of)
        found = list_samples(told)
        if not found:
            typer.echo(f"no rows are sampled; write `ouzel sample {name} --minutes 5`, and look again", err=True)
        for task, sample in found:
            _show(f"{task.component}[{task.index}] · {sample.operator}", sample.columns, sample.rows)
        for task, one in list_kept_state(told):
            typer.echo(printable(f"{task.component}[{task.index}] · {one.operator} keeps {_describe(one)}"))


def _show(title: str, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    typer.echo(printable(title))
    print_columns([printable(name) for name in columns], [[printable(cell) for cell in row] for row in rows])


def _describe(kept: StateSummary) -> str:
    """What an operator keeps in a table, in a line."""
    if kept.keys is None:
        return f"state; its largest keys: {kept.note}"
    rows = "" if kept.rows is None else f", {kept.rows:,} rows"
    largest = "; ".join(f"{', '.join(key.cells) or '(no key)'}: {key.rows:,}" for key in kept.largest)
    told = f"; largest keys: {largest or kept.note}" if largest or kept.note else ""
    return f"{kept.table}: {kept.keys:,} keys{rows}{told}"


def _count(tasks: int) -> str:
    return f"{tasks:,} task{'' if tasks == 1 else 's'}"
