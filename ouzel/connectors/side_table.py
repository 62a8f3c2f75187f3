"""Side tables: what a connector's row says of tables that a join reads whole in each task, or asks by key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SideTable:
    """How a connector's tables are read as side tables.

    Args:
        size: import path of a function of (options, directory) giving the bytes of a bounded table, None where they are not known;
            empty if they never are.
        content: import path of a function of a SourceRequest giving the parts of a bounded table, each with a digest that changes
            when the part does; empty if there is none.
        asks: import path of a function of a SourceRequest giving an AskedTable; empty if the table cannot be asked by key.
    """

    size: str = ""
    content: str = ""
    asks: str = ""
