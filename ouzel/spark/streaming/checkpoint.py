"""Where a Structured Streaming job keeps offsets and state: the setting 'checkpoint.path', or a folder that is gone when it ends."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ouzel.errors import QueryError, TopologyError
from ouzel.files import put_bytes
from ouzel.job import Job
from ouzel.spark.io.bucket_numbers import FORMER_BUCKETS, Buckets, choose_buckets
from ouzel.spark.lowering.streaming import StreamingQuery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAN = "query.txt"
"""File of a checkpoint that says what it is the checkpoint of."""

OWNER = "run.txt"
"""File of a checkpoint that says which run has it: the one that began last."""

PARTITIONS = "spark.sql.shuffle.partitions"
S3_REGION = "us-east-1"
"""The region of a server that is not Amazon's, if the environment says none."""


class Home(Protocol):
    """A folder, here or wherever Hadoop reaches. Names are relative to it."""

    uri: str

    def read(self, name: str) -> str | None:
        """The text of a file; None if it is not there."""

    def write(self, name: str, text: str) -> None:
        """Write a file, and the folder if there is none."""

    def names(self, folder: str) -> list[str]:
        """What a folder holds; nothing if it is not there."""

    def remove(self, folder: str) -> None:
        """Remove a folder with all that it holds."""


class LocalHome:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.uri = folder, folder.as_uri()

    def read(self, name: str) -> str | None:
        path = self._folder / name
        return path.read_text() if path.exists() else None

    def write(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        put_bytes(self._folder / name, text.encode(), beside=f".{uuid.uuid4()}")  # two drivers may write it at once

    def names(self, folder: str) -> list[str]:
        path = self._folder / folder
        return os.listdir(path) if path.is_dir() else []

    def remove(self, folder: str) -> None:
        shutil.rmtree(self._folder / folder)


class HadoopHome:
    """A folder that Hadoop reaches by its URI: S3, HDFS."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self.uri, self._jvm = uri, spark._jvm
        self._files = self._path("").getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.uri}/{name}".rstrip("/"))

    def read(self, name: str) -> str | None:
        if not self._files.exists(self._path(name)):
            return None
        stream = self._files.open(self._path(name))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        stream = self._files.create(self._path(name), True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()

    def names(self, folder: str) -> list[str]:
        path = self._path(folder)
        return [each.getPath().getName() for each in self._files.listStatus(path)] if self._files.exists(path) else []

    def remove(self, folder: str) -> None:
        self._files.delete(self._path(folder), True)


@dataclass(frozen=True)
class HeldCheckpoint:
    """A checkpoint as one run has it, until another begins there; nobody else has one that is gone in the end.

    Spark keeps two drivers apart by how it names its logs: where names are taken at once, as on a disk, and not as in S3.
    """

    home: Home
    owner: str = ""

    def check_owner(self) -> None:
        """See that no other run has begun there since.

        Raises:
            TopologyError: one has.
        """
        if self.owner and (owner := self.home.read(OWNER)) != self.owner:
            raise TopologyError(
                f"{owner or 'nobody'} has the checkpoint {_place(self.home)} now: another run began there, so this one ends; "
                "run one at a time, or give each a 'checkpoint.path' of its own"
            )


def _hold(home: Home) -> HeldCheckpoint:
    """Have it from now on: the run that had it ends at its next micro-batch."""
    owner = f"process {os.getpid()} on {socket.gethostname()} ({uuid.uuid4()})"
    home.write(OWNER, owner)
    return HeldCheckpoint(home, owner)


@contextmanager
def checkpoint_of(
    job: Job, queries: Sequence[StreamingQuery], spark: SparkSession | None = None
) -> Iterator[HeldCheckpoint]:
    """The job's checkpoint: that of an earlier run if it is there, and of the same query. Only for a URI a session is asked.

    Raises:
        QueryError: it is another query's.
    """
    path = job.settings.checkpoint_path
    if not path:
        with tempfile.TemporaryDirectory(prefix="ouzel-checkpoint-", ignore_cleanup_errors=True) as folder:
            yield HeldCheckpoint(LocalHome(Path(folder)))
        return
    if spark is not None and "://" in path:
        _reach_store(spark, job.settings.checkpoint_endpoint)
        home: Home = HadoopHome(spark, uri_of(path))
    else:
        home = LocalHome((job.directory / path).resolve())
    _claim(home, "\n".join(map(_describe, queries)))
    yield _hold(home)


def uri_of(path: str) -> str:
    """The address as Hadoop writes it: S3 is s3a there."""
    return path.replace("s3://", "s3a://", 1).rstrip("/")


def _reach_store(spark: SparkSession, endpoint: str) -> None:
    """Let Hadoop find the server that 'checkpoint.endpoint' or the environment names. Spark itself takes the keys from the environment."""
    if endpoint := endpoint or os.environ.get("AWS_ENDPOINT_URL", ""):
        spark.conf.set("fs.s3a.endpoint", endpoint)
        spark.conf.set("fs.s3a.endpoint.region", os.environ.get("AWS_REGION", S3_REGION))
        spark.conf.set("fs.s3a.path.style.access", "true")


def _describe(query: StreamingQuery) -> str:
    labels = [sink.label for sink in (query.sink, query.late) if sink]
    return "\n".join([*labels, query.text, query.after])


def _place(home: Home) -> str:
    """As users write it."""
    return home.uri.removeprefix("file://")


def _claim(home: Home, plan: str) -> None:
    note = home.read(PLAN)
    if note not in (None, plan):
        raise QueryError(
            f"{_place(home)} is the checkpoint of another query, or of this one before it changed",
            instead="give 'checkpoint.path' a new folder",
        )
    if note is None:
        home.write(PLAN, plan)


def forget_unbegun(home: Home, table: str) -> None:
    """Remove what a run left that ended as it wrote its first offsets, for a full disk or a kill: Spark would refuse to begin there.

    Nothing is read or written before its offsets are there.
    """
    if home.names(table) and not _list_begun(home, table):
        home.remove(table)


def _list_begun(home: Home, table: str) -> list[str]:
    """The micro-batches whose offsets are written."""
    return [name for name in home.names(f"{table}/offsets") if name.isdigit()]


def settle_buckets(home: Home, table: str, partitions: int) -> Buckets:
    """The buckets of a query's operators: chosen when it first begins, and the same in each run from its checkpoint."""
    name = f"{table}.buckets.json"
    if _list_begun(home, table):
        note = home.read(name)
        return tuple(json.loads(note)["buckets"]) if note else FORMER_BUCKETS
    chosen = choose_buckets(partitions)
    home.write(name, json.dumps({"buckets": chosen}))
    return chosen


def describe_pinned(home: Home, table: str, asked: str) -> str:
    """What is said of a query with state that asks for other shuffle partitions than its checkpoint has; empty if nothing."""
    starts = _list_begun(home, table)
    if not starts or not home.names(f"{table}/state"):
        return ""
    _, metadata, *_ = (home.read(f"{table}/offsets/{max(starts, key=int)}") or "\n{}").splitlines()
    pinned = json.loads(metadata).get("conf", {}).get(PARTITIONS, asked)
    if pinned == asked:
        return ""
    return (
        f"table '{table}': the state in its checkpoint has {pinned} shuffle partitions, and Spark keeps that number; "
        f"{PARTITIONS} = {asked} begins with a new 'checkpoint.path'"
    )
