"""Where in the text of a query a part of its plan was written."""

from __future__ import annotations

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
