"""A batch store in a folder: Parquet, and a page that says which of it counts. Whatever breaks in between, the page before counts.

    store.json                              what the store is, its batches, its versions
    batch=15706/sums-3f9c12ab.parquet       what a batch alone adds up to, with the time of each window
    batch=15706/totals-3f9c12ab.parquet     what all up to this one add up to

Files are written once, under other names until they are whole. The page is replaced as a whole when all that it names is on disk; then what
it no longer names is removed.
"""

from __future__ import annotations

import fcntl
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from weakref import finalize

import polars as pl

from ouzel.compiler.sql.statements.ddl import type_text
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.type_names import read_type
from ouzel.compiler.types import Field, Schema
from ouzel.errors import ConnectorError, QueryError
from ouzel.files import name_synced, sync
from ouzel.monoid import Monoid
from ouzel.stores.batcher import Batcher, BatchID, BatchRange, in_utc, parse_batcher
from ouzel.stores.columns import StoreColumns, StoredValue, TotalColumns
from ouzel.stores.merging import Answering, answer_here, merge_files
from ouzel.stores.store import extend, newest

PAGE = "store.json"
FORMAT = 1
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_Read = TypeVar("_Read")
KEPT = 3
"""How many versions are kept, so that a reader of an older one can finish."""


@dataclass(frozen=True)
class StoredFile:
    """A file of the store: its name in it, and how many bytes it has."""

    name: str
    size: int


@dataclass(frozen=True)
class StoredVersion:
    """Which file holds what all batches before `end` add up to."""

    batches: BatchRange
    file: StoredFile


@dataclass(frozen=True)
class StorePage:
    """What a store says of itself."""

    batcher: Batcher
    columns: StoreColumns
    batches: BatchRange
    sums: Mapping[BatchID, StoredFile | None]
    versions: tuple[StoredVersion, ...]

    @property
    def files(self) -> set[str]:
        """Names of all files that count."""
        return {one.file.name for one in self.versions} | {one.name for one in self.sums.values() if one}


@dataclass(frozen=True)
class FolderVersion:
    """A version in a folder. Its file is held open until it is read or the version is dropped, as a writer may remove it meanwhile."""

    batches: BatchRange
    path: Path
    columns: StoreColumns = field(repr=False)
    file: BinaryIO = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        finalize(self, self.file.close)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All totals: keys and values."""
        with self.file:
            return pl.read_parquet(self.file)

    def get_many(self, keys: Iterable[Any]) -> dict[Any, Any]:
        """The totals of these keys, without keys that have none; a key of several columns is a tuple."""
        return totals_of(self.frame, self.columns, keys)


class FolderStore:
    """A batch store in a folder of this machine or of a file system that machines share.

    A key is the value of the column that the sums are grouped by, or a tuple if there are several; a total is of `monoid`, over the
    values of all columns.

    Args:
        path: the folder; it may be made later.

    Raises:
        QueryError: it is no path.
    """

    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, str | Path) or _URL.match(str(path)):
            raise QueryError(
                f"a batch store is a folder of this machine or of a file system that machines share, and not {path!s}",
                instead="give the path of a folder; what a stream sums may be kept in a server",
            )
        self.path = Path(path)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name in ("get", "get_many"):
                raise AttributeError(
                    f"a batch store has no {name}; call version().{name}(…), of its newest totals, or ask a ClientStore"
                )
            raise AttributeError(f"a batch store has no {name}; see docs/stores.md for what it has")

    @property
    def page(self) -> StorePage:
        """What the store says of itself now.

        Raises:
            QueryError: there is no store yet.
            ConnectorError: it cannot be read.
        """
        try:
            return _read_page(json.loads((self.path / PAGE).read_text()))
        except FileNotFoundError:
            raise QueryError(
                f"there is no store of totals in {self.path}",
                instead=f"compute its first batch: ouzel batch QUERY.sql --advance {self.path} --batcher '1 day' --from TIME --to TIME",
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConnectorError(f"{self.path / PAGE} is no page of a store of totals: {error}") from None

    @property
    def exists(self) -> bool:
        """Whether there is one yet."""
        return (self.path / PAGE).exists()

    @property
    def batcher(self) -> Batcher:
        """How time is cut."""
        return self.page.batcher

    @property
    def monoid(self) -> Monoid[Any, Any, Any]:
        """How totals add up: each column's values by a monoid of its own."""
        return self.page.columns.monoid

    def version(self, until: BatchID | None = None) -> FolderVersion:
        """The newest version, or the newest that holds no batch from `until` on.

        Raises:
            QueryError: no such version is kept.
            ConnectorError: its file is not what was written.
        """

        def open_version(page: StorePage) -> FolderVersion:
            found = newest(page.versions, page.batcher, until)
            path = self._check_file(found.file)
            return FolderVersion(found.batches, path, page.columns, path.open("rb"))

        return self._of_page(open_version)

    def sums(self, batch: BatchID) -> dict[Any, Any] | None:
        """What one batch alone adds up to, by key; None if it was not computed."""

        def read(page: StorePage) -> dict[Any, Any] | None:
            file = page.sums.get(batch)
            if file is None:
                return {} if batch in page.sums else None
            return added_up(pl.read_parquet(self._check_file(file)), page.columns)

        return self._of_page(read)

    def _of_page(self, read: Callable[[StorePage], _Read]) -> _Read:
        """Read the page and the files that it names; read again if another process replaced the page and removed files meanwhile."""
        while True:
            page = self.page
            try:
                return read(page)
            except (ConnectorError, OSError):
                if page == self.page:
                    raise

    def put(
        self,
        batcher: Batcher,
        columns: StoreColumns,
        batches: BatchRange,
        sums: pl.DataFrame,
        answer: Answering = answer_here,
    ) -> FolderVersion:
        """Take what batches add up to, the next ones or some again, and make a version of all.

        Only what is new is added to the version before; of batches that are computed again, what they and all later ones add up to.

        Args:
            batcher: how time is cut.
            columns: what the columns mean.
            batches: those that were computed.
            sums: rows of time, keys and values; a batch without rows is empty.
            answer: what adds up.

        Raises:
            QueryError: a batch would be missing, or the store is another query's.
            ConnectorError: it cannot be written.
        """
        rows = _by_batch(batcher, columns, batches, sums)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with self._alone():
                return self._put(batcher, columns, batches, rows, answer)
        except OSError as error:
            raise ConnectorError(f"the store {self.path} cannot be written: {error.strerror or error}") from None

    def _put(
        self,
        batcher: Batcher,
        columns: StoreColumns,
        batches: BatchRange,
        rows: Mapping[BatchID, pl.DataFrame],
        answer: Answering,
    ) -> FolderVersion:
        page = self.page if self.exists else None
        if page:
            check_same(self.path, page, batcher, columns)
        whole = extend(page.batches if page else None, batches, batcher)
        held = dict(page.sums) if page else {}
        held |= {batch: self._write(batch, "sums", rows[batch]) if batch in rows else None for batch in batches}
        kept = [one for one in (page.versions if page else ()) if one.batches.end <= batches.start]
        files = {self._check_file(kept[-1].file): columns.totals} if kept else {}
        since = BatchRange(kept[-1].batches.end if kept else whole.start, whole.end)
        files |= {self._check_file(file): columns.sums for batch in since if (file := held[batch])}
        total = self._write(whole.end.prev, "totals", merge_files(columns, files, answer))
        versions = (*kept, StoredVersion(whole, total))[-KEPT:]
        self._turn(StorePage(batcher, columns, whole, held, versions))
        path = self.path / total.name
        return FolderVersion(whole, path, columns, path.open("rb"))

    def _write(self, batch: BatchID, what: str, frame: pl.DataFrame) -> StoredFile:
        name = f"batch={batch}/{what}-{secrets.token_hex(4)}.parquet"
        path, fresh = self.path / name, self.path / f".{secrets.token_hex(8)}.new"
        path.parent.mkdir(exist_ok=True)
        frame.write_parquet(fresh)
        sync(fresh)
        name_synced(fresh, path)
        sync(self.path)
        return StoredFile(name, path.stat().st_size)

    def _turn(self, page: StorePage) -> None:
        """Make this page the current one, and remove the files that it does not name."""
        fresh = self.path / f".{PAGE}.new"
        fresh.write_text(json.dumps(_page_text(page), indent=1))
        sync(fresh)
        name_synced(fresh, self.path / PAGE)
        for left in [*self.path.glob("batch=*/*.parquet"), *self.path.glob(".*.new")]:
            if str(left.relative_to(self.path)) not in page.files:
                left.unlink(missing_ok=True)
        for folder in self.path.glob("batch=*"):
            if not any(folder.iterdir()):
                folder.rmdir()

    def _check_file(self, file: StoredFile) -> Path:
        path = self.path / file.name
        size = path.stat().st_size if path.exists() else None
        if size != file.size:
            held = "is gone" if size is None else f"has {size} bytes"
            raise ConnectorError(f"{path} was written with {file.size} bytes and {held}; compute its batch again")
        return path

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the folder against other writers; the lock ends with the process."""
        with (self.path / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConnectorError(f"another process is writing to the store {self.path}; try again later") from None
            yield


def _by_batch(
    batcher: Batcher, columns: StoreColumns, batches: BatchRange, sums: pl.DataFrame
) -> dict[BatchID, pl.DataFrame]:
    """The rows of each batch.

    Raises:
        QueryError: a window reaches into another batch.
    """
    time, found = columns.time.name, dict[BatchID, list[datetime]]()
    for start in sums[time].unique().sort():
        batch = batcher.batch_of(start)
        end = batcher.earliest_time_of(batch.next)
        if in_utc(start) + columns.window > end:
            raise QueryError(
                f"the window of {columns.window} from {start} reaches into the batch that begins at {end}",
                instead="take windows that fit into the batches",
            )
        if batch in batches:
            found.setdefault(batch, []).append(start)
    kind, names = sums.schema[time], columns.sums.names
    return {
        batch: sums.filter(pl.col(time).is_in(pl.Series(times, dtype=kind).implode())).select(names)
        for batch, times in found.items()
    }


def check_same(path: Path, page: StorePage, batcher: Batcher, columns: StoreColumns) -> None:
    """Raise a QueryError if the store is not one of these columns and batches."""
    if str(page.batcher) != str(batcher):
        raise QueryError(
            f"the store {path} cuts time by '{page.batcher}', not by '{batcher}'", instead="take another folder"
        )
    if page.columns != columns:
        raise QueryError(f"the store {path} holds what another query computes", instead="take another folder")


def totals_of(frame: pl.DataFrame, columns: TotalColumns, keys: Iterable[Any]) -> dict[Any, Any]:
    """The totals of these keys, without keys that the frame lacks."""
    wanted, names = list(keys), [field.name for field in columns.keys]
    if not names:
        return {key: total for key, total in added_up(frame, columns).items() if key in wanted}
    return added_up(frame.join(key_frame(columns, wanted), on=names, how="semi", nulls_equal=True), columns)


def key_parts(columns: TotalColumns, key: Any) -> tuple[Any, ...]:
    """A key as the values of its columns: one column holds the key itself, several hold the items of a tuple."""
    return (key,) if len(columns.keys) == 1 else tuple(key)


def key_of(parts: tuple[Any, ...]) -> Any:
    """The values of the key's columns as a key."""
    return parts[0] if len(parts) == 1 else parts


def key_frame(columns: TotalColumns, keys: Iterable[Any]) -> pl.DataFrame:
    """Keys in columns, each once; a key of several columns is a tuple."""
    rows = [key_parts(columns, key) for key in keys]
    return pl.DataFrame(rows, schema=Schema(columns.keys).polars(), orient="row").unique()


def added_up(frame: pl.DataFrame, columns: TotalColumns) -> dict[Any, Any]:
    """The totals of rows, by key."""
    keys, values = [field.name for field in columns.keys], [one.name for one in columns.values]
    monoid, found = columns.monoid, dict[Any, Any]()
    for key, row in zip(
        frame.select(keys).rows() if keys else [()] * frame.height, frame.select(values).rows(), strict=True
    ):
        name, total = key_of(key), monoid.prepare(row)
        found[name] = monoid.plus(found[name], total) if name in found else total
    return found


def _page_text(page: StorePage) -> dict[str, Any]:
    columns = page.columns
    return {
        "format": FORMAT,
        "batcher": str(page.batcher),
        "time": _field_text(columns.time),
        "window_us": columns.window // timedelta(microseconds=1),
        "keys": [_field_text(one) for one in columns.keys],
        "totals": [[one.name, type_text(one.type), one.merged_by] for one in columns.values],
        "query": columns.query,
        "batches": [page.batches.start.number, page.batches.end.number],
        "sums": {str(batch): [file.name, file.size] if file else None for batch, file in page.sums.items()},
        "versions": [[one.batches.end.number, one.file.name, one.file.size] for one in page.versions],
    }


def _field_text(one: Field) -> list[Any]:
    return [one.name, type_text(one.type), one.nullable]


def _read_page(text: dict[str, Any]) -> StorePage:
    if text["format"] != FORMAT:
        raise ValueError(f"it is of format {text['format']}, and this Ouzel reads {FORMAT}")
    values = tuple(StoredValue(name, _type(kind), merged_by) for name, kind, merged_by in text["totals"])
    keys, window = tuple(map(_field, text["keys"])), timedelta(microseconds=text["window_us"])
    start, end = map(BatchID, text["batches"])
    return StorePage(
        parse_batcher(text["batcher"]),
        StoreColumns(_field(text["time"]), window, keys, values, text["query"]),
        BatchRange(start, end),
        {BatchID(int(batch)): StoredFile(*file) if file else None for batch, file in text["sums"].items()},
        tuple(StoredVersion(BatchRange(start, BatchID(at)), StoredFile(*file)) for at, *file in text["versions"]),
    )


def _type(text: str) -> Any:
    source = QueryText(text)
    return read_type(source, source.tokens())


def _field(text: list[Any]) -> Field:
    name, kind, nullable = text
    return Field(name, _type(kind), nullable)
