"""How a connector's tables are read beside a stream: whole by each task, or by key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Beside:
    """What a row says of it.

    Args:
        size: import path of a function of (options, directory) giving how many bytes a table at rest has, None where that is not known;
            empty if nobody can tell.
        content: import path of a function of a SourceRequest giving the parts of a table at rest, and a digest of each by which is seen
            whether it is still the same; empty if that cannot be told.
        asks: import path of a function of a SourceRequest giving an AskedTable; empty if the table cannot be asked by key.
    """

    size: str = ""
    content: str = ""
    asks: str = ""
