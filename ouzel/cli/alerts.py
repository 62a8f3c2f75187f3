"""`ouzel alerts`: tells people when conditions on submitted topologies hold."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from ouzel.cli.choices import Debug
from ouzel.cli.failure import report_errors
from ouzel.cli.rounds import repeat


def alerts(
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="Rules and receivers, in TOML.")],
    every: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How often it is looked.")] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only say whether the file can be read.")] = False,
    debug: Debug = False,
) -> None:
    """Watch the submitted topologies, and tell receivers when a condition holds, and once when it no longer does, until Ctrl-C.

    It goes on where it was when it is started again: nobody is told twice of what still holds.
    """
    with report_errors(debug):
        from ouzel.runtime.cluster.submitted.registry import Registry
        from ouzel.tracker.alerts.facts import find_facts
        from ouzel.tracker.alerts.keeping import AlertWatch
        from ouzel.tracker.alerts.rules import read_alert_file
        from ouzel.tracker.alerts.sending import send_notice
        from ouzel.tracker.alone import run_alone
        from ouzel.tracker.topologies.watching import TopologyWatcher

        rules = read_alert_file(file)
        if check:
            typer.echo(f"{len(rules.rules):,} alerts, {len(rules.receivers):,} receivers")
            return
        registry = Registry()
        with run_alone(registry.home, "alerts"), closing(TopologyWatcher(registry)) as watcher:
            watch = AlertWatch(rules, registry.home, send_notice)

            def look() -> None:
                now_s = time.time()
                for line in watch.look(find_facts(watcher, now_s), now_s):
                    typer.echo(line)

            repeat(look, every, once)
