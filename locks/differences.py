"""Says which packages of this environment have other versions than locks/dev.txt.

.venv-newest/bin/python locks/differences.py
"""

from __future__ import annotations

import re
from importlib.metadata import distributions
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name


def locked(text: str) -> dict[str, str]:
    """The version of each package that the lock has for this platform and Python."""
    lines = re.findall(r"^([\w.-]+)==([^\s;]+)(?: ; ([^\\\n]+))?", text, re.M)
    return {
        canonicalize_name(name): version for name, version, when in lines if not when or Marker(when.strip()).evaluate()
    }


def main() -> None:
    """Print a line for each package that differs."""
    before = locked((Path(__file__).parent / "dev.txt").read_text())
    now = {canonicalize_name(found.name): found.version for found in distributions()}
    changed = sorted(name for name in before if before[name] != now.get(name))
    for name in changed:
        print(f"{name}: locked {before[name]}, here {now.get(name, 'none')}")
    print(f"{len(changed)} of {len(before)} packages differ from locks/dev.txt")


if __name__ == "__main__":
    main()
