"""Protobuf: records of one message, which a file of descriptors describes. Read in columns, or by its own library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from ouzel.connectors.base import Option
from ouzel.connectors.formats.base import Decoded, Format, Records
from ouzel.connectors.formats.conversion import convert_columns, merge
from ouzel.connectors.formats.protobuf.columns import name_near, take_fields
from ouzel.connectors.formats.widening import match_columns, widen
from ouzel.errors import ConnectorError

DESCRIPTORS, MESSAGE = "protobuf.descriptor-file", "protobuf.message"

FORMAT = Format(
    "protobuf",
    "Protobuf, one record of a known message each, without a header. A field that a record leaves out has its type's default if it is a "
    "scalar of proto3 that is not `optional`, and an empty ARRAY or MAP if it is repeated; any other is NULL: a message, a member of a "
    "`oneof`, and what is of proto2, of which no declared default is filled in. A number that an enum of proto3 has no name for is that "
    "number as text, and one of proto2 NULL. A message inside itself is read as deep as the table declares it. Columns take wider types as "
    "from Parquet, and names match in any case. Protobuf cannot tell a record of another message whose fields have the same numbers. It "
    "can only be read.",
    (
        Option(
            DESCRIPTORS,
            "What `protoc --include_imports --descriptor_set_out=FILE` writes; the file has to be wherever the table is read.",
            required=True,
        ),
        Option(MESSAGE, "The full name of the records' message, `package.Message`.", required=True),
    ),
    "ouzel.connectors.formats.protobuf.format:ProtobufDecoder",
    kernels="ouzel.connectors.formats.protobuf.wire",
    readable_only=True,
    files=(DESCRIPTORS,),
)

_COMPILE = "write it with `protoc --include_imports --descriptor_set_out=FILE`"
_HEADER = (
    "; it begins with a zero byte, as Confluent's serializers write it: only records without that header can be read"
)


class ProtobufDecoder:
    """Decodes records of one message."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        from ouzel.connectors.formats.protobuf.wire import plan_message  # which imports Numba

        self._columns, self._required = dict(columns), required
        parsed = message_class(Path(options[DESCRIPTORS]), options[MESSAGE])
        self._parse, self._name = parsed.FromString, options[MESSAGE]
        self._fields = take_fields(parsed.DESCRIPTOR, columns)
        self._wire = plan_message(parsed.DESCRIPTOR, {field.name: field.kind for field in self._fields})
        held = {field.name: field.kind for field in self._fields}
        own = match_columns(held, columns, f"the message {self._name}")
        self._made = [widen(pl.col(own[name]), held[own[name]], kind).alias(name) for name, kind in columns.items()]

    def decode(self, records: Records) -> Decoded:
        """Decode all of them."""
        read, places, bad = self._read(records)
        good = ~np.isin(places, [*bad])
        frame = pl.DataFrame(read).filter(good).select(self._made) if read else pl.DataFrame(height=int(good.sum()))
        return merge(
            convert_columns(frame, self._columns, {}, self._required), places[good].tolist(), bad, len(records)
        )

    def _read(self, records: Records) -> tuple[list[pl.Series], np.ndarray, dict[int, str]]:
        """A column for each field, which record each value is of, and why some are bad."""
        bad = dict[int, str]()
        if self._wire:
            columns = self._wire.read_records(records, bad)
            if columns is not None:
                return [columns[field.name] for field in self._fields], np.arange(len(records)), bad
        messages, bad = self._messages(records.values())
        places = np.delete(np.arange(len(records)), [*bad])
        return [field.read(messages, places, bad) for field in self._fields], places, bad

    def _messages(self, bodies: Sequence[bytes]) -> tuple[list[Message], dict[int, str]]:
        """Those that can be parsed, and why the others cannot."""
        try:
            return list(map(self._parse, bodies)), {}
        except DecodeError:
            return self._messages_one_by_one(bodies)

    def _messages_one_by_one(self, bodies: Sequence[bytes]) -> tuple[list[Message], dict[int, str]]:
        messages, bad = list[Message](), dict[int, str]()
        for index, body in enumerate(bodies):
            try:
                messages.append(self._parse(body))
            except DecodeError:
                bad[index] = f"it is no message {self._name}, or cut off" + _HEADER * body.startswith(b"\0")
        return messages, bad


def message_class(path: Path, name: str) -> type[Message]:
    """The class of the message that the file of descriptors has under this full name.

    Raises:
        ConnectorError: there is no such file, or no such message in it.
    """
    try:
        files = FileDescriptorSet.FromString(path.read_bytes()).file
    except OSError as error:
        raise ConnectorError(f"'{DESCRIPTORS}' = '{path}' cannot be read ({error})") from None
    except DecodeError:
        raise ConnectorError(f"'{DESCRIPTORS}' = '{path}' is no set of descriptors; {_COMPILE}") from None
    names = [full for file in files for full in _message_names(file.message_type, file.package)]
    if name not in names:
        raise ConnectorError(f"{path} has no message '{name}'; {name_near(name, names)}")
    pool = DescriptorPool()
    try:
        for file in files:
            pool.AddSerializedFile(file.SerializeToString())
    except TypeError as error:
        raise ConnectorError(f"'{DESCRIPTORS}' = '{path}' is not complete ({error}); {_COMPILE}") from None
    return GetMessageClass(pool.FindMessageTypeByName(name))


def _message_names(messages: Iterable[DescriptorProto], space: str) -> Iterator[str]:
    for message in messages:
        if message.options.map_entry:
            continue
        name = f"{space}.{message.name}" if space else message.name
        yield name
        yield from _message_names(message.nested_type, name)
