"""A submitted topology: its private directory, and what its processes read there, signed.

It is in two files. The description is an outline that every process reads, and holds nothing of the user's: whoever reads a user's object
may import his module, which runs whatever that does, and its threads, be they of Arrow or Polars, would not come along in a fork. The
program, with all that the components compute, is read by tasks alone, each in its own process, which never forks.

Both are pickles, which can run code when they are read: so they are signed with a key that only the owner can read, and a process refuses
one whose signature is wrong, wherever it got it from.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import os
import pickle
import secrets
import shutil
import stat
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import cloudpickle

from ouzel.compiler.user_code import calls_of, describe_raised, users_line_in
from ouzel.errors import OuzelError, StateError, TopologyError
from ouzel.files import is_locked, put_bytes
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.store_address import StoreAddress, is_store_address, parse_address
from ouzel.planner.topology import Component, Task, Topology
from ouzel.runtime.protocol.cluster.placement import Placement

if TYPE_CHECKING:
    from ouzel.planner.former import Former

MASTER_CONTAINER = 0
MASTERS = ("topology-master", "topology-master-2")
"""The processes of that container: one leads, and the second one is there if the topology has a standby. Their order is that of their slots
in the heartbeats."""

_SIGNATURE_BYTES = 32
TOKEN = "ouzel-token"
KEY, PROGRAM = "key", "program"
DESCRIPTION = "topology"
_CHECKPOINTS = "checkpoints"
_loads = False


@dataclass(frozen=True)
class RunDescription:
    """What every process of a topology knows.

    Attributes:
        id: unique name of this run, the name of its nodes in the state manager.
        home: the job directory (mode 0700): sockets, logs, process tables, local state.
        directory: where relative paths of tables start.
        topology: the whole; as processes load it, its outline (see `outline`).
        packing: which task is in which container.
        tcp: stream managers talk over TCP even on one host.
        detached: the topology outlives the client that started it.
        results: where the result is kept; None if a client takes it.
        returning: the component whose rows a client takes; empty if there is none.
        revision: how often the topology has been updated.
        formers: by component, what it goes on from in epochs of the revisions from `formers_from` on, but before this one; one that is
            not there goes on from the component of its name.
        formers_from: epochs of revisions before this one cannot be used.
        noted: by component, under which name its source or sink finds what it has noted, if that is not its own.
    """

    id: str
    home: Path
    directory: Path
    topology: Topology
    packing: PackingPlan
    tcp: bool = False
    detached: bool = False
    results: Path | None = None
    returning: str = ""
    revision: int = 0
    formers: tuple[tuple[str, Former], ...] = ()
    formers_from: int = 0
    noted: tuple[tuple[str, str], ...] = ()

    def former(self, component: str, revision: int) -> Former | None:
        """What a component goes on from in an epoch of that revision; None if it is what the component itself kept.

        Raises:
            StateError: nobody knows, for updates that lie between have changed what is kept.
        """
        if revision == self.revision:
            return None
        if not self.formers_from <= revision < self.revision:
            raise StateError(
                f"the epoch is of revision {revision} of topology '{self.topology.name}', and revision {self.revision} goes on from "
                f"{self.formers_from} and later"
            )
        return dict(self.formers).get(component)

    @property
    def leaves_epochs(self) -> bool:
        """Whether anything depends on its epochs when it is over: those of other runs are removed with the job directory."""
        settings = self.topology.settings
        return settings.has_epochs and (self.detached or settings.delivery.publishes or bool(settings.checkpoint_path))

    @property
    def placement(self) -> Placement:
        """Where its tasks are, and who sends rows to whom."""
        return Placement(self.topology, self.packing)

    @property
    def checkpoints(self) -> Path | StoreAddress:
        """The folder of its epochs, or what stands for one."""
        settings = self.topology.settings
        path = settings.checkpoint_path
        if is_store_address(path):
            return parse_address(path, settings.checkpoint_endpoint)
        return self.directory / path if path else self.home / _CHECKPOINTS

    @property
    def local_checkpoints(self) -> Path:
        """A folder of this machine for what belongs to its epochs and is appended to: no store of objects can do that."""
        return place if isinstance(place := self.checkpoints, Path) else self.home / _CHECKPOINTS

    def container(self, number: int) -> Path:
        """The directory of one container."""
        return self.home / f"container-{number}"

    def notes_of(self, task: Task) -> Path:
        """What a task's source or sink notes for its successor: known by its component, for an update gives tasks other ids and places."""
        return self.home / notes_name(dict(self.noted).get(task.component, task.component), task.index)

    @property
    def containers(self) -> list[int]:
        """The numbers of all containers, the topology master's among them."""
        return [MASTER_CONTAINER, *(one.id for one in self.packing.containers)]

    def tasks_in(self, container: int) -> tuple[Task, ...]:
        """The tasks that live in a container."""
        return self.placement.tasks_in(container)

    def title(self, container: int, process: str) -> str:
        """What `ps` and `top` show of a container's process; people read it, nothing looks a process up by it."""
        instances = {
            f"instance-{task.id}": f"instance {task.component}[{task.index}]" for task in self.tasks_in(container)
        }
        return f"ouzel: {self.topology.name} · container {container} · {instances.get(process, process)}"

    def token(self) -> bytes:
        """What a peer shows to prove that it knows the key."""
        return hmac.digest(_key(self.home), b"peer", hashlib.sha256)

    @property
    def credentials(self) -> tuple[tuple[str, str], ...]:
        """What a call to the topology master carries as metadata."""
        return ((TOKEN, hmac.digest(_key(self.home), b"call", hashlib.sha256).hex()),)

    def save(self, path: Sequence[str] = (), *, outlined: bool = True) -> None:
        """Write description and program, signed, into the job directory; tasks look for modules of the program on `path`.

        Without the description, `outlined`, the program is not known yet: it is that of the revision which the description names.

        Raises:
            TopologyError: what the program defines cannot be pickled.
        """
        try:
            program = cloudpickle.dumps(self.topology)
        except Exception as error:
            raise TopologyError(
                _unsendable(self.topology) or f"the topology cannot be sent to its tasks: {error}"
            ) from error
        self.sign(revision_name(PROGRAM, self.revision), pickle.dumps((list(path), program)))
        if outlined:
            self.save_outline()

    def save_outline(self) -> None:
        """Write the description alone, signed, into the job directory."""
        self.sign(DESCRIPTION, pickle.dumps(replace(self, topology=outline(self.topology))))

    def sign(self, name: str, text: bytes) -> None:
        """Write a file of that name, signed, into the job directory, whole or not at all."""
        write_signed(self.home, name, text, self.home)


def notes_name(component: str, index: int) -> str:
    """What the file is called in which a task of a component notes something."""
    name = hashlib.blake2b(component.encode(errors="surrogatepass"), digest_size=8).hexdigest()
    return f"notes-{name}-{index}"


def revision_name(name: str, revision: int) -> str:
    """What a file is called that each revision of a topology has for itself: so a description with its number replaces all at once."""
    return f"{name}-{revision}" if revision else name


def outline(topology: Topology) -> Topology:
    """Names, streams and settings of a topology, without what its components compute: nothing of it is the user's."""
    return replace(topology, components=tuple(map(_outline, topology.components)), sides=())


def _outline(component: Component) -> Component:
    inputs = tuple(replace(one, grouping=replace(one.grouping, chooser=None)) for one in component.inputs)
    return replace(component, inputs=inputs, chain=(), user=None)


def _unsendable(topology: Topology) -> str:
    """Which attribute of which component cannot be pickled."""
    for part in topology.components:
        for name, value in getattr(part.user, "__dict__", {}).items():
            try:
                cloudpickle.dumps(value)
            except Exception:
                what = f"its attribute '{name}' is a {type(value).__name__}, which cannot be pickled; make it in open()"
                return f"'{part.name}' cannot be sent to its tasks: {what}"
    return ""


_SOCKET_PATH = 107
"""Most bytes in the path of a Unix socket (sun_path, less its end)."""

_LONGEST = "ouzel-01234567/container-9999/metrics-manager.sock"


def check_room(parent: Path) -> None:
    """Check that sockets in a job directory below `parent` can have a path.

    Raises:
        TopologyError: it would be too long, or is no text, which gRPC does not take.
    """
    try:
        str(parent).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(parent).decode(errors="backslashreplace")
        raise TopologyError(
            f"the path of the temporary directory {shown} is not UTF-8; set TMPDIR to another"
        ) from None
    if len(os.fsencode(parent / _LONGEST)) > _SOCKET_PATH:
        raise TopologyError(
            f"the temporary directory {parent} has too long a path for Unix sockets; set TMPDIR to a shorter one"
        )


def create_home(parent: Path) -> Path:
    """A new job directory with a key of its own, readable by its owner alone.

    Raises:
        OSError: there is no room, or no permission.
    """
    home = parent / f"ouzel-{secrets.token_hex(4)}"
    home.mkdir(mode=0o700, parents=True)
    try:
        hold(home)
        create_key(home)
    except OSError:
        remove_home(home)
        raise
    return home


def create_key(home: Path) -> None:
    """Make the key that a job directory's files are signed with.

    Raises:
        OSError: there is no room, or no permission.
    """
    descriptor = os.open(home / KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(32))


_HELD = "held"
_holds: dict[Path, int] = {}


def hold(home: Path) -> None:
    """Lock the job directory until this process, and all that it forks from now on, have ended.

    Raises:
        OSError: there is no room, or no permission.
    """
    fresh = home / f"{_HELD}.{os.getpid()}"
    lock = os.open(home / _HELD if (home / _HELD).exists() else fresh, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_SH)
    if fresh.exists():
        fresh.rename(home / _HELD)  # only now, so that nobody finds it before it is locked
    _holds[home] = lock


def remove_home(home: Path) -> None:
    """Remove a job directory that this process holds."""
    shutil.rmtree(home, ignore_errors=True)
    if (lock := _holds.pop(home, None)) is not None:
        os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove this user's job directories below `parent` that no living process holds: client and server were killed together."""
    for lock in parent.glob(f"ouzel-*/{_HELD}"):
        with contextlib.suppress(OSError):
            if lock.stat().st_uid == os.geteuid() and not is_locked(lock, by_several=True):
                shutil.rmtree(lock.parent)


def load_description(home: Path) -> RunDescription:
    """Read the description of the job in `home`; its topology is an outline.

    Raises:
        TopologyError: as in `read_object`.
    """
    return cast(RunDescription, read_object(home, DESCRIPTION))


def read_object(home: Path, name: str) -> object:
    """What a signed file of the job directory holds, of classes of Ouzel's own.

    Raises:
        TopologyError: as in `read_signed`; or a version of Ouzel has written it whose classes this one does not have.
    """
    text = read_signed(home, name)
    try:
        return pickle.loads(text)
    except (AttributeError, ImportError, TypeError) as error:
        raise TopologyError(
            f"{home / name} was written by another version of Ouzel ({error}); stop the topology with that version, "
            "with a savepoint if it is to keep its state, and submit it again with this one"
        ) from error


def load_program(home: Path, revision: int = 0, keys: Path | None = None) -> Topology:
    """Read the whole topology of the job in `home`, as that revision has it; the key is in `keys`, if not in `home`.

    That may import the user's modules: only in a process that never forks.

    From then on this process finds modules where the program that submitted the job did.

    Raises:
        TopologyError: as in `load_description`; or what the program defines is nowhere to be found here, or raises when it is imported.
    """
    global _loads
    path, program = pickle.loads(read_signed(home, revision_name(PROGRAM, revision), keys))
    sys.path[:] = [*path, *(place for place in sys.path if place not in path)]
    _loads = True
    try:
        return cast(Topology, pickle.loads(program))
    except OuzelError:
        raise
    except BaseException as error:  # a module may end with exit(), too
        raise TopologyError(
            f"the processes of the topology cannot load what the program defines: {_describe_unloadable(error)}"
        ) from error
    finally:
        _loads = False


def _describe_unloadable(error: BaseException) -> str:
    """What was raised, in which line of a module of the program's; or what to write if it is there under another name only."""
    where = users_line_in(calls_of(error))
    told = describe_raised(error) + (f" (at {where})" if where else "")
    if where and not isinstance(error, ImportError):
        return f"{told}; each task imports the program's modules by itself, as `import` in a new Python does"
    return f"{told}; define it in the program's own file, or in a module that Python finds by this name from anywhere (PYTHONPATH)"


def refuse_while_loading(what: str) -> None:
    """Refuse that a module starts something when a task imports it: that would start tasks that import it, and so on for ever.

    Raises:
        TopologyError: this process is importing the modules of a program; names the line.
    """
    if _loads:
        frames = traceback.extract_stack()
        raise TopologyError(
            f"a module that tasks import starts {what} when it is imported (at {users_line_in(frames)}); "
            "put that below `if __name__ == '__main__':` or into a function"
        )


def read_signed(home: Path, name: str, keys: Path | None = None) -> bytes:
    """A file of the job directory `home` that was signed with the key in `keys`, or in `home`.

    Raises:
        TopologyError: it is missing, or its signature is wrong, or others could have written the key.
    """
    try:
        signed = (home / name).read_bytes()
    except OSError as error:
        raise TopologyError(f"there is no topology in {home}: {error.strerror}") from error
    signature, text = signed[:_SIGNATURE_BYTES], signed[_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, _signature(keys or home, name, text)):
        raise TopologyError(f"{home / name} is not what was submitted: its signature is wrong; submit it again")
    return text


def write_signed(home: Path, name: str, text: bytes, keys: Path) -> None:
    """Write a file of that name into `home`, signed with the key in `keys`, whole or not at all."""
    put_bytes(home / name, _signature(keys, name, text) + text, mode=0o600)


def _signature(home: Path, name: str, text: bytes) -> bytes:
    """What only the owner of the job could write into its file of that name."""
    return hmac.digest(_key(home), name.encode() + b"\n" + text, hashlib.sha256)


def _key(home: Path) -> bytes:
    path = home / KEY
    try:
        status = path.stat()
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise TopologyError(
                f"{path} can be read by others; run `chmod 600 {path}` if you trust it, or submit again"
            )
        return path.read_bytes()
    except OSError as error:
        raise TopologyError(f"the key {path} cannot be read: {error.strerror}") from error
