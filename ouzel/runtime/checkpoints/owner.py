"""Whose folder of checkpoints it is. Two topologies that write into one would each take the other's state for its own."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.objects import ObjectStore, StoreLocation
from ouzel.runtime.checkpoints.sealed import MissingFile, seal, unseal

NOTE = "owner"
"""The name of the file that says it."""

_VERSION = 1


@dataclass(frozen=True)
class Owner:
    """What a folder says of itself.

    Attributes:
        folder: the id of the folder, made with it; each manifest in it carries it, so that one of another folder is known.
        topology: the name of the topology that it belongs to; empty as long as it belongs to none, as a fork does at first.
        topology_id: of the topology; two may have the same name, below two state managers. Empty if it is not known.
    """

    folder: str
    topology: str = ""
    topology_id: str = ""

    def is_free_for(self, topology: str) -> bool:
        """Whether a topology of this name may take the folder."""
        return not self.topology_id and self.topology in ("", topology)


def new_folder_id() -> str:
    """An id that no folder has had."""
    return secrets.token_hex(16)


def find_owner(store: ObjectStore) -> Owner | None:
    """What the folder says; None if it says nothing.

    Raises:
        StateError: its note is damaged.
        OSError: the store does not answer.
    """
    try:
        return Owner(**unseal(store, NOTE, _VERSION))
    except MissingFile:
        return None
    except TypeError:
        raise StateError(f"{store.where(NOTE)} does not say whose folder of checkpoints it is") from None


def write_owner(store: ObjectStore, owner: Owner, *, is_first: bool) -> None:
    """Note whose a folder is; of two that write the first note at once, the first that has written wins.

    Raises:
        OSError: it cannot be written.
    """
    with store.fresh("", 0) as file:
        file.write(seal(_VERSION, asdict(owner)))
        if is_first:
            file.keep_if_first(NOTE)
        else:
            file.keep(NOTE)


def refuse_other(folder: StoreLocation, owner: Owner, topology: str, topology_id: str) -> None:
    """Let only the topology go on that the folder belongs to.

    Raises:
        StateError: it belongs to another.
    """
    if (owner.topology, owner.topology_id) == (topology, topology_id):
        return
    if owner.topology == topology:
        raise StateError(
            f"{folder} holds the checkpoints of another run of topology '{topology}': keep those of this one in another folder, or submit "
            "the query, for `ouzel start` goes on from them"
        )
    raise StateError(
        f"{folder} holds the checkpoints of topology '{owner.topology}': have topology '{topology}' keep its own in another folder, or "
        "copy an epoch into a new one with `ouzel checkpoint fork`"
    )
