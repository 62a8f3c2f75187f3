"""Columns of a table that no record of the sample has.

One of JSON is NULL in silence, where a name is spelt otherwise; where CSV has none of them, its first line is likely no header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from ouzel.connectors.file.inference import sample_header, sample_objects
from ouzel.connectors.file.partition_folders import partition_names
from ouzel.connectors.file.paths import find_files
from ouzel.connectors.formats.json.names import fold
from ouzel.errors import ConnectorError

_SHOWN = 12


def note_absent(options: Mapping[str, str], columns: Sequence[str], directory: Path) -> list[str]:
    """A sentence for each column that no record looked at has; later records may have it, so that this is no error. Of CSV one for all.

    Where nothing can be read, the run itself says why.
    """
    if options.get("format") == "csv":
        with suppress(ConnectorError, OSError, ValueError):
            return list(_note_headless(options, columns, directory))
    if options.get("format") != "json":
        return []
    fixed = {fold(name) for name in partition_names(options)}
    missing = {fold(name): name for name in columns if fold(name) not in fixed}
    fields: dict[str, None] = {}
    with suppress(ConnectorError, OSError):
        _take_found(sample_objects(find_files(options["path"], directory), options), missing, fields)
    return [_absent(name, list(fields), options["path"]) for name in missing.values() if fields]


def _note_headless(options: Mapping[str, str], columns: Sequence[str], directory: Path) -> Iterator[str]:
    """The first line of a file without a header is a row, and would be lost."""
    named = [name for name in columns if name not in partition_names(options)]
    dialect, first = sample_header(find_files(options["path"], directory), options)
    if not dialect.header or dialect.columns or not named or not first or dialect.other_delimiter(first):
        return
    lowered = [field.lower() for field in dialect.fields(first)]
    if not any(get_close_matches(name.lower(), lowered, 1) for name in named):
        further = ", and a name for each further field" if len(lowered) > len(named) else ""
        yield (
            f"the first line of {options['path']} names none of its columns; if it is a row, add 'csv.header' = 'false', "
            f"'csv.columns' = '{', '.join(named)}'{further}"
        )


def _take_found(objects: Iterator[dict[str, object]], missing: dict[str, str], fields: dict[str, None]) -> None:
    """Take away from `missing` what records have, up to the record that has the last of it."""
    while missing and (made := next(objects, None)) is not None:
        fields |= dict.fromkeys(made)
        for name in made:
            missing.pop(fold(name), None)


def _absent(name: str, fields: Sequence[str], path: str) -> str:
    near = _near(name, fields)
    meant = f"did you mean {near}?" if near else "a column without a field is NULL"
    shown = ", ".join([*fields[:_SHOWN], *["..."][: len(fields) > _SHOWN]])
    return f"no record of {path} that was looked at has a field {name}; its fields are {shown}; {meant}"


def _near(name: str, fields: Iterable[str]) -> str:
    """The fields most like the name, or those that end with it: click_id for id."""
    folded = {fold(field): field for field in fields}
    close = get_close_matches(fold(name), folded, 1)
    longer = [small for small in folded if small.endswith(f"_{fold(name)}")]
    return " or ".join(folded[small] for small in close or longer[:3])
