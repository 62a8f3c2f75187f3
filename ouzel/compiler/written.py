"""Where in the text of a query a part of its plan was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class NodeLocation:
    """How a node was written, for whoever reads a program that is made of it; -1 is nowhere.

    Args:
        clause: offset of the clause that the node is, in the text of the query.
        name: of the last node of a view or CTE, what that is called.
        begins: of the last node of a statement or a CTE, and of a table, the offset of its beginning.
        place: of a program in Python, file and line of the step that the node is.
    """

    clause: int = -1
    name: str = ""
    begins: int = -1
    place: str = ""


@dataclass(frozen=True)
class WrittenOperator:
    """An operator of a component, for whoever looks at it from outside.

    Attributes:
        kind: of node, as in EXPLAIN.
        does: what it does, as in EXPLAIN.
        lines: numbers of the lines of the query in which it stands, from 1; empty where nobody wrote it.
        place: of a program in Python, file and line of the step that it is.
    """

    kind: str
    does: str
    lines: tuple[int, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class WrittenQuery:
    """The text of a query, with stars for secrets (empty of a program in Python), and by component the operators that it became."""

    text: str
    operators: Mapping[str, tuple[WrittenOperator, ...]]
