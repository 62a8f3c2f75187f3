"""Formats: how a record's bytes become a row, and back. One file each; `FORMATS` is their table."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.connectors.formats.arrow import FORMAT as ARROW
from ouzel.connectors.formats.avro.format import AVRO, AVRO_CONFLUENT
from ouzel.connectors.formats.base import Decoder, Encoder, Format
from ouzel.connectors.formats.changes.canal import FORMAT as CANAL
from ouzel.connectors.formats.changes.debezium import FORMAT as DEBEZIUM
from ouzel.connectors.formats.changes.maxwell import FORMAT as MAXWELL
from ouzel.connectors.formats.csv.format import FORMAT as CSV
from ouzel.connectors.formats.json.format import FORMAT as JSON
from ouzel.connectors.formats.parquet import FORMAT as PARQUET
from ouzel.connectors.formats.protobuf.format import FORMAT as PROTOBUF
from ouzel.connectors.formats.raw import FORMAT as RAW
from ouzel.errors import QueryError

if TYPE_CHECKING:
    import polars as pl

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (JSON, DEBEZIUM, MAXWELL, CANAL, CSV, RAW, AVRO, AVRO_CONFLUENT, PROTOBUF, ARROW, PARQUET)
}


def takes_rows_back(options: Mapping[str, str]) -> bool:
    """Whether a table's format is a changelog."""
    return options.get("format", "") in FORMATS and FORMATS[options["format"]].changelog


def check_format(options: Mapping[str, str]) -> None:
    """See that the options of a table go with its format.

    Raises:
        QueryError: they do not.
    """
    form = FORMATS.get(options.get("format", ""))
    if form is None:
        return
    if form.one_of and sum(name in options for name in form.one_of) != 1:
        raise QueryError(
            f"the format '{form.name}' needs its records' schema",
            instead=f"write either {' or '.join(map(repr, form.one_of))}",
        )
    if form.many and options.get("changelog.mode") == "upsert":
        raise QueryError(
            f"a record of the format '{form.name}' is many rows, and no key tells which of them it replaces",
            instead="leave out 'changelog.mode', or write one row a record in another format",
        )


def open_decoder(
    name: str,
    options: Mapping[str, str],
    columns: Mapping[str, pl.DataType],
    required: frozenset[str] = frozenset(),
    directory: str | Path = "",
) -> Decoder:
    """A decoder of records into `columns`; a NULL in one of `required` makes a record bad. The paths of files that the format's options
    name start at `directory`.

    Raises:
        ConnectorError: the format cannot hold these columns.
    """
    files = {path: str(Path(directory, options[path])) for path in FORMATS[name].files if path in options}
    decoder: Decoder = _load(FORMATS[name].decoder)({**options, **files}, columns, required)
    return decoder


def open_encoder(name: str, options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> Encoder:
    """An encoder of rows of `columns` into records.

    Raises:
        ConnectorError: the format cannot hold these columns.
    """
    encoder: Encoder = _load(FORMATS[name].encoder)(options, columns)
    return encoder


def import_kernels(options: Mapping[str, str]) -> None:
    """Import what takes long of the format that a table with these options is read in."""
    form = FORMATS.get(options.get("format", ""))
    if form is not None and form.kernels:
        import_module(form.kernels)


def _load(path: str):  # type: ignore[no-untyped-def]
    module, _, function = path.partition(":")
    return getattr(import_module(module), function)
