"""S3, or what speaks as S3 does, as a store of checkpoints.

An object is whole or not there, so nothing is renamed: what is written waits here, or in a temporary file, until it has its name.
Of two that give a name at once the first wins where that is asked for (a conditional put, `If-None-Match: *`).

The library is obstore: PyArrow's S3FileSystem has no conditional put; boto3 has one, but loads its model of S3, in Python, into each
process of a topology.
"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from ouzel.errors import OuzelError, StateError
from ouzel.planner.store_address import StoreAddress
from ouzel.runtime.checkpoints.folder_store import copy_object
from ouzel.runtime.checkpoints.objects import FreshObject, ObjectStore, StoreAway

if TYPE_CHECKING:
    import obstore.store

T = TypeVar("T")

_IN_MEMORY_BYTES = 8 << 20
"""What is larger waits in a temporary file before it is sent, or while it is read."""

_RANGE_BYTES = 32 << 20
"""So much is read with one request: each request has a limit of time, whatever the size of the object."""

_CONNECT_S, _REQUEST_S, _RETRY_S = 3, 30, 10
_RETRIES = 3
"""A request that fails is tried again within a moment. An outage that is longer fails the epoch, and the next one is tried."""

_CODE = re.compile(r"<Code>(\w+)</Code>")


class S3Store(ObjectStore):
    """See ObjectStore. No request is sent before something is asked.

    Raises:
        OuzelError: obstore is not installed, or the environment says what is not supported.
    """

    def __init__(self, address: StoreAddress) -> None:
        self.place = address
        self._client = _connect(address)

    def where(self, name: str) -> str:
        return f"{self.place}/{name}"

    def fresh(self, folder: str, epoch: int) -> S3Object:
        return S3Object(self)

    def get(self, name: str) -> bytes:
        with self.open(name) as file:
            return file.read()

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        import obstore

        with cast(BinaryIO, SpooledTemporaryFile(_IN_MEMORY_BYTES)) as file:
            found = self.ask(name, lambda key: obstore.get(self._client, key))
            size = found.meta["size"]
            if size <= _RANGE_BYTES:
                file.write(self.ask(name, lambda _: found.bytes()))
            for start in range(0, size, _RANGE_BYTES) if size > _RANGE_BYTES else ():
                file.write(self._read(name, start, min(_RANGE_BYTES, size - start)))
            file.seek(0)
            yield file

    def _read(self, name: str, start: int, length: int) -> memoryview:
        import obstore

        return memoryview(self.ask(name, lambda key: obstore.get_range(self._client, key, start=start, length=length)))

    def has(self, name: str) -> bool:
        return bool(self.sizes([name]) or self._list(name))

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        wanted = defaultdict[str, set[str]](set)
        for name in names:
            folder, _, last = name.rpartition("/")
            wanted[folder].add(last)
        return {
            f"{folder}/{last}".lstrip("/"): size
            for folder, lasts in wanted.items()
            for last, size in self._list(folder).items()
            if last in lasts
        }

    def list(self, folder: str = "") -> list[str]:
        return sorted(self._list(folder))

    def _list(self, folder: str) -> dict[str, int]:
        import obstore

        try:
            found = self.ask(folder, lambda key: obstore.list_with_delimiter(self._client, key or None))
        except FileNotFoundError:
            raise StoreAway(errno.EIO, f"there is no bucket '{self.place.bucket}'", str(self.place)) from None
        return {one["path"].rpartition("/")[2]: one["size"] for one in found["objects"]}

    def delete(self, names: Iterable[str]) -> None:
        import obstore

        if keys := [self._key(name) for name in names]:
            self.ask("", lambda _: obstore.delete(self._client, keys))

    def put(self, name: str, file: BinaryIO) -> None:
        """Give an object its name, in place of what has it."""
        import obstore

        self.ask(name, lambda key: obstore.put(self._client, key, file, chunk_size=_IN_MEMORY_BYTES, max_concurrency=2))

    def put_if_absent(self, name: str, data: bytes) -> bool:
        """Give an object its name, unless another has it; whether it has it now, as far as this process knows."""
        import obstore

        try:
            self.ask(name, lambda key: obstore.put(self._client, key, data, mode="create"))
        except FileExistsError:
            return False
        return True

    def copy(self, name: str, other: ObjectStore) -> None:
        copy_object(self, name, other)

    def check_first_wins(self) -> None:
        name = f".{secrets.token_hex(8)}.probe"
        self.put(name, io.BytesIO(b"first"))
        is_replaced = self.put_if_absent(name, b"second")
        self.delete([name])
        if is_replaced:
            raise StateError(
                f"{self.place}: the store ignores `If-None-Match`, so two topologies could take it for their own; keep the epochs in a "
                "store that has conditional writes, or in a folder"
            )

    def ask(self, name: str, request: Callable[[str], T]) -> T:
        """What a request for an object gives.

        Raises:
            FileNotFoundError: there is none.
            FileExistsError: there is one, and there was to be none.
            StoreAway: nobody knows.
        """
        from obstore import exceptions

        try:
            return request(self._key(name))
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.where(name)) from None
        except exceptions.AlreadyExistsError:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.where(name)) from None
        except exceptions.BaseError as error:
            raise StoreAway(errno.EIO, _reason(error), self.where(name)) from None

    def _key(self, name: str) -> str:
        return f"{self.place.prefix}/{name}".strip("/")


class S3Object(FreshObject):
    """An object that waits to be sent."""

    def __init__(self, store: S3Store) -> None:
        super().__init__()
        self._store = store
        self._file = cast(BinaryIO, SpooledTemporaryFile(_IN_MEMORY_BYTES))  # noqa: SIM115 - closed in __exit__

    def _append(self, piece: memoryview, size: int) -> None:
        self._file.write(piece)

    def keep(self, name: str) -> None:
        self._file.seek(0)
        self._store.put(name, self._file)

    def keep_if_first(self, name: str) -> None:
        """See FreshObject. A request that was answered, and whose answer was lost, is sent again and finds its own object."""
        self._file.seek(0)
        self._store.put_if_absent(name, self._file.read())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _connect(address: StoreAddress) -> obstore.store.S3Store:
    try:
        from obstore.store import S3Store as Client
    except ImportError as error:
        raise OuzelError(
            f'{address} needs the package obstore, which is not installed; write: pip install "ouzel[s3]"'
        ) from error
    if "AWS_PROFILE" in os.environ and "AWS_ACCESS_KEY_ID" not in os.environ:
        raise OuzelError(
            f"{address}: AWS_PROFILE is not supported, for files of profiles are not read; put AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY into the environment, or leave AWS_PROFILE out where the machine has a role of its own"
        )
    endpoint = address.endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return Client(
        address.bucket,
        config={"endpoint": endpoint} if endpoint else {},
        client_options={
            "allow_http": endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=_CONNECT_S),
            "timeout": timedelta(seconds=_REQUEST_S),
        },
        retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_S)},
    )


def _reason(error: Exception) -> str:
    """Why the store did not do it, without what the library says for its makers."""
    text = str(error).partition("\n")[0]
    if code := _CODE.search(str(error)):
        return f"the store answered {code[1]}"
    return text.removeprefix("Generic S3 error: ")
