"""Attack topologies until the time is up, from one seed; each attack's own seed is printed, and repeats it."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.attack.arena import Arena, Breach, seeded
from tests.attack.attacks import ATTACKS


def main() -> int:
    """Attack in turn; how many topologies did not hold."""
    asked = _arguments()
    until = time.monotonic() + asked.seconds
    names, breaches, number = asked.attacks or list(ATTACKS), 0, 0
    while time.monotonic() < until and (not asked.rounds or number < asked.rounds * len(names)):
        name, seed = names[number % len(names)], asked.seed + number // len(names)
        breaches += not attack(name, seed)
        number += 1
    print(f"{number} attacks, {breaches} of them got through")
    return breaches


def attack(name: str, seed: int) -> bool:
    """Whether the topology held against one attack; says how it went in a line."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="at") as directory:
        arena = Arena(Path(directory), seeded(name, seed))
        try:
            ATTACKS[name](arena)
            outcome = "held"
        except PermissionError as reason:
            outcome = f"not tried: {reason}"
        except Breach as breach:
            outcome = f"BREACH: {breach}"
    deeds = f" ({'; '.join(arena.log)})" if arena.log else ""
    print(f"{name:8} --seed {seed:<6} {time.monotonic() - began:5.1f} s  {outcome}{deeds}", flush=True)
    return "BREACH" not in outcome


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument(
        "attacks", nargs="*", metavar="ATTACK", help=f"of {', '.join(ATTACKS)}; all of them if none is named"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000, help="of the first round")
    parser.add_argument("--seconds", type=float, default=600, help="no attack begins after them")
    parser.add_argument("--rounds", type=int, default=0, help="each attack so many times, if the time allows")
    asked = parser.parse_args()
    unknown = [name for name in asked.attacks if name not in ATTACKS]
    if unknown:
        parser.error(f"there is no attack {unknown[0]!r}; there are {', '.join(ATTACKS)}")
    return asked


if __name__ == "__main__":
    sys.exit(min(main(), 100))
