"""From a table without an end to one that a batch can read: which of its options mean something else then."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.compiler.plan import Program, Scan, scans_in, walk
from ouzel.connectors import reads_of
from ouzel.connectors.base import Options
from ouzel.errors import NotSupported

Ranges = Mapping[str, Mapping[str, tuple[int, int]]]
"""Table -> partition id -> [first offset, offset to stop before); of a recorded run, up to where everything is wholly acked."""


def check_ends(program: Program, offsets: Ranges) -> None:
    """See that each table ends, by itself or because `offsets` say where.

    Raises:
        NotSupported: one does not; the text says what to write.
    """
    scans = {id(scan): scan for sink in program.sinks for scan in scans_in(walk(sink))}
    for scan in scans.values():
        if scan.table not in offsets:
            _check_end(scan)


def _check_end(scan: Scan) -> None:
    reads, options = reads_of(scan.connector, scan.table), dict(scan.options)
    refusal = reads.batch.refusal(options)
    if refusal:
        raise NotSupported(f"table '{scan.table}' {refusal[0]}", instead=refusal[1])
    if not reads.bounded(reads.batch.options(options)):
        end = f"add '{reads.batch.end_option}' = '...' to its WITH, or " if reads.batch.end_option else ""
        raise NotSupported(
            f"table '{scan.table}' has no end, and a batch reads all there is",
            instead=f"{end}say with --offsets what to read",
        )


def never_ends(scan: Scan) -> bool:
    """Whether reading the table ends only when it is stopped."""
    return not reads_of(scan.connector, scan.table).bounded(dict(scan.options))


def batch_options(connector: str, options: Options) -> dict[str, str]:
    """The options under which a source gives all that is there now, as fast as it can, and ends."""
    return reads_of(connector, "").batch.options(options)
