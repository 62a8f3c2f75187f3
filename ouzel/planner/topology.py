"""A topology: components, their streams and groupings, and the tasks they are made of. What SQL compiles to and the topology API builds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ouzel.compiler.plan import Node
from ouzel.compiler.types import Schema
from ouzel.planner.keeping import NOTHING, Keeps
from ouzel.planner.settings import Settings

DEFAULT_STREAM = "default"


class GroupingKind(Enum):
    """How a frame's rows are dealt to the tasks of the reader (Heron's and Storm's kinds)."""

    SHUFFLE = "shuffle"
    FIELDS = "fields"
    ALL = "all"
    GLOBAL = "global"
    NONE = "none"
    LOCAL_OR_SHUFFLE = "local-or-shuffle"
    PARTIAL_KEY = "partial-key"
    DIRECT = "direct"
    CUSTOM = "custom"


@dataclass(frozen=True)
class Grouping:
    """A kind, the key columns of FIELDS and PARTIAL_KEY, and the chooser of CUSTOM.

    A custom chooser is called with (frame: pl.DataFrame, tasks: int) and returns an integer array, the task index of each row.
    """

    kind: GroupingKind
    fields: tuple[str, ...] = ()
    chooser: Any = None

    def __str__(self) -> str:
        return f"{self.kind.value}({', '.join(self.fields)})" if self.fields else self.kind.value


@dataclass(frozen=True)
class Input:
    """One stream that a component reads; `port` is which of its first node's inputs these rows are."""

    component: str
    grouping: Grouping
    stream: str = DEFAULT_STREAM
    port: int = 0


@dataclass(frozen=True)
class Output:
    """One stream that a component writes; with `retracts` its frames carry plan.WEIGHT after the schema's columns.

    `place` is where the node whose rows they are stands in the component's chain, from its end if negative.
    """

    schema: Schema
    retracts: bool = False
    stream: str = DEFAULT_STREAM
    place: int = -1


@dataclass(frozen=True)
class Resources:
    """What one instance asks of its container."""

    cpu: float = 1.0
    ram_mb: int = 1024

    @property
    def ram_bytes(self) -> int:
        """`ram_mb` in bytes."""
        return self.ram_mb << 20


@dataclass(frozen=True)
class Component:
    """A spout or bolt.

    A component from SQL has a `chain`: the fused plan nodes, each after the one that it reads; a chain that starts with a Scan is a spout.
    What the first node reads is not part of the component: its rows arrive by `inputs`; several inputs of one port mean a union. A node
    that several others read lets the chain branch, and each branch that ends writes a stream. One that an engineer wrote has
    `user`, a planner.api.Spout or Bolt. `keeps` is what the topology still holds of a spout's rows when they are acked.
    """

    name: str
    parallelism: int
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    chain: tuple[Node, ...] = ()
    user: Any = None
    resources: Resources = Resources()
    keeps: Keeps = NOTHING

    @property
    def is_spout(self) -> bool:
        """Whether it reads no stream."""
        return not self.inputs


@dataclass(frozen=True)
class Task:
    """One instance of a component; `id` is unique in the topology and counts from 1, `index` counts from 0 within the component."""

    id: int
    component: str
    index: int


Digests = tuple[tuple[str, str], ...]
"""What a table at rest holds: its parts, and what tells each from another of its name."""


@dataclass(frozen=True)
class Topology:
    """Components in an order in which every reader comes after what it reads; `has_functions` if expressions call the user's own.

    `sides` are the tables that tasks read whole for themselves, with what they held when the run began. `code` says of each function of
    the user's in the plan what its code was (see `code_identity`), by a name that `planner.meaning` knows it by.
    """

    name: str
    components: tuple[Component, ...]
    settings: Settings = field(default_factory=Settings)
    has_functions: bool = False
    sides: tuple[tuple[str, Digests], ...] = ()
    code: tuple[tuple[str, str], ...] = ()

    def component(self, name: str) -> Component:
        """The component of that name.

        Raises:
            KeyError: there is none.
        """
        for component in self.components:
            if component.name == name:
                return component
        raise KeyError(name)

    def tasks(self) -> tuple[Task, ...]:
        """All tasks, in the order of the components; ids follow that order."""
        pairs = [(component.name, index) for component in self.components for index in range(component.parallelism)]
        return tuple(Task(number, name, index) for number, (name, index) in enumerate(pairs, 1))

    def upstream(self, *components: str) -> set[str]:
        """All components whose rows come to these, directly or through others."""
        found, todo = set[str](), list(components)
        while todo:
            writers = {link.component for link in self.component(todo.pop()).inputs} - found
            found |= writers
            todo += writers
        return found

    def readers_of(self, component: str) -> tuple[Component, ...]:
        """Who reads any stream of the component."""
        return tuple(reader for reader in self.components if any(link.component == component for link in reader.inputs))

    def readers(self, component: str, stream: str = DEFAULT_STREAM) -> tuple[tuple[Component, Input], ...]:
        """Who reads that stream, and how."""
        return tuple(
            (reader, link)
            for reader in self.components
            for link in reader.inputs
            if (link.component, link.stream) == (component, stream)
        )
