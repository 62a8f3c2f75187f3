"""The query of a savepoint, as it was planned: a program, which is read only where it was written.

It is signed with a key of OUZEL_HOME. Who moves a savepoint to another machine moves that key, too, if he trusts who has made it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path

from ouzel.errors import StateError, TopologyError
from ouzel.planner.topology import Topology
from ouzel.runtime.checkpoints.savepoint import Savepoint
from ouzel.runtime.process.job import KEY, PROGRAM, create_key, load_program, read_signed, revision_name, write_signed


def write_program(folder: Path, run: Path, revision: int, home: Path) -> None:
    """Put the program of a run into a savepoint, signed with the key of OUZEL_HOME, which is made if there is none.

    Raises:
        TopologyError: it is gone, or not what was submitted.
        OSError: there is no room.
    """
    _make_key(home)
    write_signed(folder, PROGRAM, read_signed(run, revision_name(PROGRAM, revision)), home)


def read_program(savepoint: Savepoint, home: Path) -> Topology:
    """The topology that a savepoint was made of. That may import the user's modules.

    Raises:
        StateError: it was written by somebody who has another key.
        TopologyError: what it defines cannot be loaded here.
    """
    try:
        read_signed(savepoint.folder, PROGRAM, home)
    except TopologyError as error:
        raise StateError(
            f"the program in savepoint {savepoint.place} was not written below this OUZEL_HOME, {home}, and is not read: it could run "
            f"anything; if you trust who made it, copy the file `{KEY}` of his OUZEL_HOME to {home / KEY}"
        ) from error
    return load_program(savepoint.folder, keys=home)


def _make_key(home: Path) -> None:
    """Make the key, unless it is there; of two who make it at once the first wins."""
    if (home / KEY).exists():
        return
    fresh = home / f"key.{secrets.token_hex(4)}"
    fresh.mkdir(mode=0o700)
    try:
        create_key(fresh)
        with contextlib.suppress(FileExistsError):
            os.link(fresh / KEY, home / KEY)
    finally:
        shutil.rmtree(fresh)
