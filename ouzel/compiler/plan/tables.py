"""What a backend has for each class of nodes: a table, in which a class that is not listed is an error and never a default."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import isabstract
from typing import Generic, TypeVar

from ouzel.compiler.plan.base import Node
from ouzel.errors import NotSupported, PlanError

_Entry = TypeVar("_Entry")
_Function = TypeVar("_Function")


@dataclass(frozen=True)
class Refused:
    """The entry of a node that the backend cannot take; `why` completes the sentence "the backend cannot take a node: "."""

    why: str
    instead: str = ""

    def error(self, backend: str, kind: type[Node]) -> NotSupported:
        """What the backend raises when it is given a node of that class."""
        return NotSupported(f"{backend} cannot take {kind.__name__}: {self.why}", instead=self.instead)


class NodeTable(Generic[_Entry]):
    """One backend's entries by class of node."""

    def __init__(self, backend: str, entries: Mapping[type[Node], _Entry | Refused] | None = None) -> None:
        self.backend = backend
        self.entries: dict[type[Node], _Entry | Refused] = dict(entries or {})

    def add(self: NodeTable[_Function], kind: type[Node]) -> Callable[[_Function], _Function]:
        """Decorate the function that is the entry of a class."""

        def enter(function: _Function) -> _Function:
            self.entries[kind] = function
            return function

        return enter

    def can_take(self, kind: type[Node]) -> bool:
        """Whether it has an entry and does not refuse the class."""
        return not isinstance(self.entries.get(kind, Refused("not listed")), Refused)

    def __getitem__(self, kind: type[Node]) -> _Entry:
        """The entry of a class of nodes.

        Raises:
            NotSupported: the backend refuses it.
            PlanError: it is not listed.
        """
        if kind not in self.entries:
            raise PlanError(f"{self.backend} has no entry for {kind.__name__}; add one, or Refused with the reason")
        found = self.entries[kind]
        if isinstance(found, Refused):
            raise found.error(self.backend, kind)
        return found


def node_classes(family: type[Node] = Node) -> Iterator[type[Node]]:
    """Every class of nodes that has been defined, once, without the families."""
    found = dict.fromkeys(kind for below in family.__subclasses__() for kind in (below, *node_classes(below)))
    yield from (kind for kind in found if not isabstract(kind))
