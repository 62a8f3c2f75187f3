"""`ouzel health`: does something about what is the matter with submitted topologies, as far as their policies allow."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Annotated

import typer

from ouzel.cli.choices import Debug
from ouzel.cli.failure import report_errors
from ouzel.cli.rounds import repeat


def health(
    every: Annotated[float, typer.Option(min=1.0, metavar="SECONDS", help="How often it is looked.")] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    debug: Debug = False,
) -> None:
    """Restart slow instances and rescale bolts of submitted topologies by itself, until Ctrl-C.

    It acts only on topologies whose 'health.policy' allows that, as `ouzel restart` and `ouzel update` do, and undoes what made it worse.
    It goes on where it was when it is started again.
    """
    with report_errors(debug):
        from ouzel.printable import printable
        from ouzel.runtime.cluster.submitted.registry import Registry
        from ouzel.tracker.acting.carrying import ActionRunner
        from ouzel.tracker.alone import run_alone
        from ouzel.tracker.health.manager import HealthManager
        from ouzel.tracker.topologies.watching import TopologyWatcher

        registry = Registry()
        with run_alone(registry.home, "health"), closing(TopologyWatcher(registry)) as watcher:
            manager = HealthManager(watcher, ActionRunner(registry.home).run)

            def look() -> None:
                for line in manager.look(time.time):
                    typer.echo(printable(line))

            repeat(look, every, once)
