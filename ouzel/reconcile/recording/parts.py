"""The files that a run has written, as a sink's connector says where they are."""

from __future__ import annotations

from pathlib import Path

from ouzel.compiler.plan import Sink, SinkMode
from ouzel.connectors import writes_of


def can_be_read_back(sink: Sink) -> bool:
    """Whether the rows that the sink has been given can be had again from its connector."""
    return writes_of(sink.connector, sink.table).read_back is not None


def find_weight(sink: Sink) -> str | None:
    """The column of +1 and -1 in what was written; None where rows are never taken back, or there are no files."""
    read_back = writes_of(sink.connector, sink.table).read_back
    return read_back.weight if read_back and sink.mode is not SinkMode.APPEND else None


def parts_glob(sink: Sink, directory: Path, run: str) -> Path:
    """The files of a run, as a path whose last part is a glob; the sink's connector can be read back."""
    read_back = writes_of(sink.connector, sink.table).read_back
    assert read_back is not None, f"{sink.connector} cannot be read back"
    return directory / read_back.parts(dict(sink.options), run)


def parts_written(sink: Sink, directory: Path, run: str) -> list[Path]:
    """The files of a run that are there, absolute, in order."""
    glob = parts_glob(sink, directory, run)
    return sorted(path.resolve() for path in glob.parent.glob(glob.name))
