"""From a table without an end to one that a batch can read: which of its options mean something else then."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ouzel.compiler.plan import Program, Scan, walk
from ouzel.errors import NotSupported

Options = Mapping[str, str]
Ranges = Mapping[str, Mapping[str, tuple[int, int]]]
"""Table -> partition id -> [first offset, offset to stop before)."""


def check_ends(program: Program, offsets: Ranges) -> None:
    """See that each table ends, by itself or because `offsets` say where.

    Raises:
        NotSupported: one does not; the text says what to write.
    """
    for scan in {id(node): node for sink in program.sinks for node in walk(sink) if isinstance(node, Scan)}.values():
        option = UNENDING.get(scan.connector)
        options = dict(scan.options)
        if scan.table in offsets or option is None:
            continue
        if scan.connector == "kafka" and options.get("start", "").endswith("latest"):
            raise NotSupported(
                f"table '{scan.table}' starts at its latest record, and a batch would read nothing of it",
                instead="write 'start' = 'earliest' or 'timestamp', or say with --offsets what to read",
            )
        if option and option not in options:
            raise NotSupported(
                f"table '{scan.table}' has no end, and a batch reads all there is",
                instead=f"add '{option}' = '...' to its WITH, or say with --offsets what to read",
            )


def batch_options(connector: str, options: Options) -> dict[str, str]:
    """The options under which a source gives all that is there now, as fast as it can, and ends."""
    change = CHANGES.get(connector)
    return change(options) if change else {**options}


def _kafka(options: Options) -> dict[str, str]:
    made = {**options}
    if made.get("start", "committed").startswith(
        "committed"
    ):  # what a consumer group has read already is part of the answer
        made["start"] = "earliest"
    if made.get("end", "none") == "none":
        made["end"] = "latest"
    return made


def _unpaced(options: Options) -> dict[str, str]:
    return {name: value for name, value in options.items() if name != "rate"}


def _unfollowed(options: Options) -> dict[str, str]:
    return {name: value for name, value in options.items() if name != "follow"}


CHANGES: dict[str, Callable[[Options], dict[str, str]]] = {
    "kafka": _kafka, "datagen": _unpaced, "nexmark": _unpaced, "file": _unfollowed,
}  # fmt: skip

UNENDING = {"kafka": "", "datagen": "rows", "nexmark": "events"}
"""Connectors that need not end, and the option that makes them; Kafka ends at its latest record."""
