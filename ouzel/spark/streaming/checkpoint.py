"""Where a Structured Streaming job keeps offsets and state: the setting 'checkpoint.path', or a folder that is gone when it ends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ouzel.errors import QueryError
from ouzel.job import Job
from ouzel.spark.lowering.streaming import StreamingQuery

PLAN = "query.txt"
"""File of a checkpoint that says what it is the checkpoint of."""


@contextmanager
def checkpoint_of(job: Job, queries: Sequence[StreamingQuery]) -> Iterator[str]:
    """The job's checkpoint as a URI: that of an earlier run if it is there, and of the same query.

    Raises:
        QueryError: it is another query's.
    """
    path = job.settings.checkpoint_path
    if not path:
        with tempfile.TemporaryDirectory(prefix="ouzel-checkpoint-", ignore_cleanup_errors=True) as home:
            yield Path(home).as_uri()
    elif "://" in path:
        yield path.rstrip("/")
    else:
        home = str((job.directory / path).resolve())
        _claim(Path(home), "\n".join(map(_describe, queries)))
        yield Path(home).as_uri()


def _describe(query: StreamingQuery) -> str:
    labels = [sink.label for sink in (query.sink, query.late) if sink]
    return "\n".join([*labels, query.text, query.after])


def _claim(home: Path, plan: str) -> None:
    note = home / PLAN
    if note.exists() and note.read_text() != plan:
        raise QueryError(
            f"{home} is the checkpoint of another query, or of this one before it changed",
            instead="give 'checkpoint.path' a new folder",
        )
    home.mkdir(parents=True, exist_ok=True)
    note.write_text(plan)
