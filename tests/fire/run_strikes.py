"""Strikes against `ouzel run`: its client, and the server that it starts."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path

from tests.attack.arena import Arena, Run, seeded
from tests.fire.fault_table import Sighting
from tests.fire.whole import QUERY, READINGS, Table, parent_of, send, settings
from tests.servers.waiting import wait_until

ROWS = 500


def strike_run(mode: str, who: str, number: str) -> Sighting:
    """Run the query, strike, and see what is left: tables that hold each row once, and no process."""
    with tempfile.TemporaryDirectory(prefix="oz") as name:
        arena = Arena(Path(name), seeded(who, 0))
        options = [part for pair in settings(mode, Path(name) / "epochs") for part in ("--set", "=".join(pair))]
        with arena.run(QUERY, "--format", "csv", *options, fresh=True) as run:
            tables = {table: Table(arena.directory / table, reading) for table, reading in READINGS.items()}
            _grow(run, tables["passed"])
            server = parent_of(run.descendants("executor-0")[0])
            everyone = run.descendants("")
            victim = run.process.pid if who == "run-client" else server
            send(signal.Signals[number], victim)
            after = _after(run, tables["passed"], victim, everyone, number)
            wrong, unwritten = _problems(tables), sum(table.missing for table in tables.values())
            # One that is killed ends where it is: one task had written rows, and another had not yet.
            if unwritten and number != "SIGKILL":
                wrong = "; ".join(filter(None, (wrong, f"{unwritten:,} rows are missing")))
            twice = sum(table.twice for table in tables.values())
    return Sighting(who, number, mode, wrong, twice, (), after, None, unwritten)


def _after(run: Run, passed: Table, victim: int, everyone: list[int], number: str) -> str:
    if number == "SIGSTOP":
        _grow(run, passed)
        send(signal.SIGCONT, victim)
        _grow(run, passed)
        run.stop()
        ended = run.end()
        told = f"rows flow on; it ends with exit code {ended.code} when it is told to"
    else:
        ended = run.end()
        told = f"the topology ends, exit code {ended.code}" if ended.code >= 0 else "the topology ends"
    wait_until(lambda: not [pid for pid in everyone if Path(f"/proc/{pid}").exists()])
    return told


def _grow(run: Run, table: Table) -> None:
    """Wait until more rows have come."""
    goal = table.look() + ROWS
    assert run.wait_until(lambda: table.look() > goal, "new rows"), run.end()


def _problems(tables: dict[str, Table]) -> str:
    """Which tables hold rows that are wrong, in words."""
    for table in tables.values():
        table.look()
    return "; ".join(f"{table.wrong:,} rows of {name} are wrong" for name, table in tables.items() if table.wrong)
