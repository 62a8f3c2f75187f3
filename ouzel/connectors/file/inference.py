"""Schema inference for files: names and types of columns, found in a bounded sample.

A type is taken if the table's own reader makes a value of it out of each value that was looked at; so what is read later is read as what
was looked at, and a value that does not fit is a bad record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.file.array import ArrayContent, begins_array
from ouzel.connectors.file.content import open_content
from ouzel.connectors.file.partition_folders import find_names, find_types, partition_names
from ouzel.connectors.file.paths import find_files, near_files
from ouzel.connectors.file.text_kinds import Judged, TextSample, describe_strays, describe_word, judge_texts
from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.conversion import sql_name
from ouzel.connectors.formats.csv.first_lines import describe_excel
from ouzel.connectors.formats.csv.format import CsvDecoder, Dialect, check_signs, convert_advice
from ouzel.connectors.formats.json.broken import describe_spread
from ouzel.connectors.formats.json.format import JsonDecoder
from ouzel.connectors.formats.widening import fits_column
from ouzel.connectors.misfits import NULL_WORDS, advise_utf8
from ouzel.connectors.reading import FoundColumns
from ouzel.errors import ConnectorError

SAMPLE_FILES, SAMPLE_BYTES = 8, 2 << 20
"""So many files are looked at, the first by name, and so many bytes all in all, as many of each file's beginning."""

FIRST_BYTES = 1 << 12
"""So many say whether a file of JSON is an array."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""What such files begin with; UTF-8 never has these bytes."""


def find_columns(options: Mapping[str, str], directory: Path) -> FoundColumns | None:
    """What the files of a table hold; None if its options do not say which files, or in which format.

    Raises:
        ConnectorError: there is no such file, it cannot be read, or nothing can be said of what it holds.
    """
    find = _FINDERS.get(options.get("format", ""))
    if find is None or "path" not in options:
        return None
    paths = find_files(options["path"], directory)
    if not paths:
        near = near_files(options["path"], directory)
        raise ConnectorError(f"there is no file at {options['path']} (looked from {directory}){near}")
    return _with_folders(find(paths, options), paths, options, str(directory / options["path"]))


def _with_folders(found: FoundColumns, paths: Sequence[str], options: Mapping[str, str], folder: str) -> FoundColumns:
    """With the columns that folders are named by; of one that the files have too the folders count."""
    names = partition_names(options) or find_names(paths, folder)
    if not names:
        return found
    spelt = {name.lower(): name for name in names}
    held = {spelt.get(name.lower(), name): kind for name, kind in found.columns.items()}
    columns = {**held, **_arrow(find_types(paths, folder, names))}
    more = {} if "partition.by" in options else {"partition.by": ", ".join(names)}
    return replace(found, columns=columns, options={**found.options, **more})


def _of_parquet(paths: Sequence[str], options: Mapping[str, str]) -> FoundColumns:
    """The columns of all files; where two differ, the type that takes both."""
    from ouzel.connectors.file.parquet import read_footer

    columns: dict[str, pa.DataType] = {}
    names: dict[str, str] = {}
    for path in paths:
        for field in read_footer(path).schema.to_arrow_schema():
            name = names.setdefault(field.name.lower(), field.name)
            before = columns.setdefault(name, field.type)
            held, own = _in_polars(before), _in_polars(field.type)
            if held == own or fits_column(held, own):
                columns[name] = field.type
            elif not fits_column(own, held):
                raise ConnectorError(
                    f"{path} holds column '{name}' as {sql_name(own)}, and a file before it as {sql_name(held)}; declare the columns"
                )
    return FoundColumns(columns)


def _in_polars(kind: pa.DataType) -> pl.DataType:
    return pl.Schema(pa.schema([("x", kind)]))["x"]


def _of_raw(paths: Sequence[str], options: Mapping[str, str]) -> FoundColumns:
    return FoundColumns({"line": pa.string()})


def _of_csv(paths: Sequence[str], options: Mapping[str, str]) -> FoundColumns:
    check_signs(options)
    found: dict[str, str] = {}
    samples: list[TextSample] = []
    for path, data in _samples(paths):
        if not samples:
            found = _dialect_options(path, data, options)
        records, lines = _csv_records(data, Dialect({**options, **found}))
        samples.append(_texts(path, records, lines, {**options, **found}))
    if not samples:
        raise ConnectorError(f"{paths[0]} is empty, so it says no columns; declare them")
    sample = pl.concat([each.texts for each in samples], how="diagonal")
    judged = {column.name: judge_texts(column) for column in sample}
    words = _words_for_null(sample, judged, {**options, **found})
    told = [
        *_doubts(sample.columns, options),
        *(describe_word(word, names, sample, samples) for word, names in words.items()),
    ]
    kinds = {name: each.kind for name, each in judged.items()}
    for name, each in judged.items():
        if each.nearly is None:
            continue
        if options.get("bad.record", "fail") != "fail":  # what is no value of the type is left out, and told of
            kinds[name] = each.nearly
        elif not any(name in names for names in words.values()):
            told.append(describe_strays(sample[name], each, samples))
    return FoundColumns(_arrow(kinds), found, tuple(told))


def _dialect_options(path: str, data: bytes, options: Mapping[str, str]) -> dict[str, str]:
    """The options that the first line decides: the delimiter, and names for fields without a header."""
    found: dict[str, str] = {}
    dialect = Dialect(options)
    first = _csv_records(data, dialect)[0][0]
    if "csv.delimiter" not in options and len(_first_fields(path, dialect, first)) == 1:
        sign = dialect.other_delimiter(first)
        found |= {"csv.delimiter": sign} if sign else {}
    if dialect.header and not data.splitlines()[0].strip():
        raise ConnectorError(f"the first line of {path} is empty, where a header names the columns; take it out")
    if dialect.header and not dialect.columns and (excel := describe_excel(first, path)):
        raise ConnectorError(excel)
    fields = _first_fields(path, Dialect({**options, **found}), first)
    if not dialect.header and not dialect.columns:
        found["csv.columns"] = ",".join(f"column{place}" for place in range(len(fields)))
    elif not dialect.columns and not all(field.strip() for field in fields):
        raise ConnectorError(
            f"the header of {path} leaves a field without a name; name them all: 'csv.columns' = 'a, b, c'"
        )
    return found


def sample_header(paths: Sequence[str], options: Mapping[str, str]) -> tuple[Dialect, bytes]:
    """How the fields of CSV are told apart, and the first line of the files; no bytes if they hold nothing.

    Raises:
        ConnectorError: a file cannot be read.
    """
    dialect = Dialect(options)
    first = next((_csv_records(data, dialect)[0][0] for _, data in _samples(paths)), b"") if paths else b""
    return dialect, first


def _first_fields(path: str, dialect: Dialect, record: bytes) -> list[str]:
    try:
        return dialect.fields(record)
    except ValueError as error:
        raise ConnectorError(f"the first line of {path} cannot be read: {error}{convert_advice(error, path)}") from None


def _texts(path: str, records: Records, lines: np.ndarray, options: Mapping[str, str]) -> TextSample:
    """The fields as text, without those records that are none, by the names that the file has for them."""
    dialect = Dialect(options)
    names = dialect.columns or _first_fields(path, dialect, records[0])
    decoder = CsvDecoder(options, dict.fromkeys(names, pl.String()), frozenset())
    if dialect.header:
        decoder.name_fields(records[0], path)
        records, lines = records.pick(range(1, len(records))), lines[1:]
    texts = decoder.decode(records).frame
    return TextSample(path, texts, lines if texts.height == len(lines) else None)


def _doubts(names: Sequence[str], options: Mapping[str, str]) -> Iterator[str]:
    """A header that has numbers is likely the first row."""
    dialect = Dialect(options)
    numbers = [name for name in names if _is_number(name)]
    if numbers and dialect.header and not dialect.columns:
        yield f"the first line names the columns, {numbers[0]} among them; if it is a row, say so: 'csv.header' = 'false'"


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return not name.strip().isalpha()  # nan, inf


def _words_for_null(
    sample: pl.DataFrame, judged: Mapping[str, Judged], options: Mapping[str, str]
) -> dict[str, list[str]]:
    """The columns that are text for one word only, which may stand for NULL, by that word."""
    words: dict[str, list[str]] = {}
    for word in () if options.get("csv.null") else NULL_WORDS:
        for column in sample:
            is_text = judged[column.name].kind == pl.String()
            if is_text and (column == word).any() and judge_texts(column.filter(column != word)).kind != pl.String():
                words.setdefault(word, []).append(column.name)
    return words


def _of_json(paths: Sequence[str], options: Mapping[str, str]) -> FoundColumns:
    found = {} if "json.array" in options else _array_option(paths)
    records = list(_json_records(paths, {**options, **found}))
    if records and (spread := describe_spread(records, paths[0])):
        raise ConnectorError(spread)
    objects = [made for made in map(_object, records) if made is not None]
    if not objects:
        raise ConnectorError(f"{paths[0]} holds no JSON object, so it says no columns; declare them")
    names = dict.fromkeys(name for made in objects for name in made)
    kinds = {name: _kind_of_field(name, objects) for name in names}
    sample = Records.of(records)
    broken = _misfits(sample, {})
    if _misfits(sample, kinds) != broken:  # VARCHAR takes whatever there is
        kinds = {
            name: kind if _misfits(sample, {name: kind}) == broken else pl.String() for name, kind in kinds.items()
        }
    return FoundColumns(_arrow(kinds), found)


def _json_records(paths: Sequence[str], options: Mapping[str, str]) -> Iterator[bytes]:
    for _, data in _samples(paths, options.get("json.array") == "true"):
        yield from filter(bytes.strip, data.splitlines())


def sample_objects(paths: Sequence[str], options: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """The JSON objects that files begin with, as many as inference looks at.

    Raises:
        ConnectorError: a file cannot be read.
    """
    return filter(None, map(_object, _json_records(paths, options))) if paths else iter(())


def _array_option(paths: Sequence[str]) -> dict[str, str]:
    """What says that each file is an array, if they are."""
    beginnings = [data for path in paths[:SAMPLE_FILES] if (data := _beginning(path, FIRST_BYTES).strip())]
    arrays = [begins_array(data) for data in beginnings]
    if any(arrays) and not all(arrays):
        raise ConnectorError("some of the files are JSON arrays and some are not; read them as two tables")
    return {"json.array": "true"} if any(arrays) else {}


def _misfits(sample: Records, kinds: Mapping[str, pl.DataType]) -> set[int]:
    """The records that the reader of a table with these columns takes for bad."""
    return {index for index, _ in JsonDecoder({"json.exact": "*"}, kinds, frozenset()).decode(sample).bad}


def _object(record: bytes) -> dict[str, object] | None:
    try:
        made = json.loads(record)
    except ValueError:
        return None
    return made if isinstance(made, dict) else None


def _kind_of_field(name: str, objects: Sequence[dict[str, object]]) -> pl.DataType:
    """The type that Polars finds for the field's values; VARCHAR where it finds none, or none that SQL has."""
    lines = "\n".join(json.dumps({"x": made[name]}) for made in objects if made.get(name) is not None)
    if not lines:
        return pl.String()
    try:
        return _kind_of_values(pl.read_ndjson(lines.encode(), infer_schema_length=None)["x"])
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError):
        return pl.String()


def _kind_of_values(values: pl.Series) -> pl.DataType:
    """The type of the values, with texts that are all dates or times as such, and no numbers that have no type here."""
    match values.dtype:
        case pl.String():
            kind = judge_texts(values).kind
            return kind if isinstance(kind, (pl.Date, pl.Datetime)) else pl.String()
        case pl.List():
            return pl.List(_kind_of_values(values.drop_nulls().explode().drop_nulls()))
        case pl.Struct(fields=fields) if fields:
            return pl.Struct({field.name: _kind_of_values(values.struct.field(field.name)) for field in fields})
        case pl.Int64() | pl.Float64() | pl.Boolean():
            return values.dtype
        case pl.Null():
            return pl.String()
    raise TypeError(values.dtype)


def _arrow(kinds: Mapping[str, pl.DataType]) -> dict[str, pa.DataType]:
    schema = pl.DataFrame(schema=dict(kinds)).to_arrow().schema
    return {field.name: field.type for field in schema}


def _samples(paths: Sequence[str], is_array: bool = False) -> Iterator[tuple[str, bytes]]:
    """The beginnings of the files, up to the end of a line, without those that hold nothing."""
    share = SAMPLE_BYTES // min(len(paths), SAMPLE_FILES)
    for path in paths[:SAMPLE_FILES]:
        data = _beginning(path, share, is_array)
        if len(data) == share:
            data = data[: data.rfind(b"\n") + 1]
            if not data:
                raise ConnectorError(f"the first record of {path} is longer than {share:,} bytes; declare the columns")
        if data.startswith(_UTF_16):
            raise ConnectorError(f"{path} is UTF-16; convert it to UTF-8, as by {advise_utf8(path, 'utf-16')}")
        data = data.removeprefix(b"\xef\xbb\xbf")
        if data.strip():
            yield path, data if data.endswith(b"\n") else data + b"\n"


def _beginning(path: str, size: int, is_array: bool = False) -> bytes:
    content = open_content(path)
    try:
        return (ArrayContent(content, path) if is_array else content).read(0, size)
    finally:
        content.close()


def _csv_records(data: bytes, dialect: Dialect) -> tuple[Records, np.ndarray]:
    """The records of a beginning of a file, and the line of each, from 1; one whose quote is still open is none yet."""
    view = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero(view == 10)
    ends = dialect.cut(view, SAMPLE_BYTES)[0] if dialect.quote else breaks
    if not len(ends):  # a quote that nothing closes
        ends = np.array([len(data) - 1])
    starts = np.concatenate(([0], ends[:-1] + 1))
    records, lines = Records(data[: int(ends[-1]) + 1], starts, ends), np.searchsorted(breaks, starts) + 1
    kept = [index for index in range(len(records)) if records[index].strip()]
    return (records, lines) if len(kept) == len(records) else (records.pick(kept), lines[kept])


_FINDERS = {"parquet": _of_parquet, "csv": _of_csv, "json": _of_json, "raw": _of_raw}
