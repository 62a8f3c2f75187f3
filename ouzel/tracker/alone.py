"""Commands of which one at a time may look after the topologies of an OUZEL_HOME."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.state.local import LocalState


@contextmanager
def run_alone(home: Path, command: str) -> Iterator[None]:
    """Inside, this process is the only one that runs the command over the topologies of an OUZEL_HOME.

    Raises:
        OuzelError: another runs it, or the folder cannot be written.
    """
    try:
        state = _state(home)
        is_alone = state.hold(f"/{command}", b"")
    except OSError as error:
        raise OuzelError(f"{home} cannot be written: {error.strerror}") from error
    with closing(state):
        if not is_alone:
            raise OuzelError(f"another `ouzel {command}` looks after these topologies; end it first")
        yield


def is_run(home: Path, command: str) -> bool:
    """Whether any process runs the command over these topologies."""
    with closing(_state(home)) as state:
        return state.get(f"/{command}") is not None


def _state(home: Path) -> LocalState:
    return LocalState(home / "state")
