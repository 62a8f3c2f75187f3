"""Logs of changes by Maxwell and Canal: JSON objects with `type`, `database`, `table`, `data` and `old`; they differ in what these hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ouzel.connectors.base import Option
from ouzel.connectors.formats.base import Decoded, Format, Records
from ouzel.connectors.formats.changes.changed_fields import ChangedRows, ChangedRowsDecoder
from ouzel.connectors.formats.conversion import Change
from ouzel.connectors.formats.json.format import FORMAT as JSON
from ouzel.connectors.formats.json.format import JsonDecoder
from ouzel.connectors.formats.json.names import EXACT
from ouzel.errors import ConnectorError

TYPE, DATABASE, TABLE, DATA, OLD = "type", "database", "table", "data", "old"
_AT = "$at"
_TABLES_NAMED = 3


@dataclass(frozen=True)
class LogDialect:
    """What the values of `type` mean, and whether `data` is an array of rows.

    Args:
        form: the format's name.
        comes: rows come.
        goes: rows go; those of an update go as they were and come as they are.
        passed: it says nothing of rows.
        altered: the table has other columns from then on.
        lost: all rows of the table are gone.
        many: `data` and `old` are arrays of rows.
    """

    form: str
    comes: tuple[str, ...]
    goes: tuple[str, ...]
    passed: tuple[str, ...]
    altered: tuple[str, ...]
    lost: tuple[str, ...]
    many: bool

    def format(self, doc: str, decoder: str) -> Format:
        """The row of the table of formats, as `Format` has it, with what WITH may hold for such a table."""
        options = (
            Option(f"{self.form}.database.include", "Only the changes of databases whose whole name this regular expression matches."),
            Option(f"{self.form}.table.include", "Only the changes of tables whose whole name this regular expression matches."),
            Option(
                f"{self.form}.timestamp-format.standard",
                "Flink's option: `SQL` and `ISO-8601` are both read, whatever it says.",
                choices=("SQL", "ISO-8601"),
            ),
            *(option for option in JSON.options if option.name == EXACT),
        )  # fmt: skip
        return Format(
            self.form, doc, options, decoder, quoted=EXACT, changelog=True, readable_only=True, many=self.many
        )


class RowLogDecoder:
    """Decodes changes: of each row the one that goes, if there is one, then the one that comes."""

    def __init__(
        self,
        dialect: LogDialect,
        options: Mapping[str, str],
        columns: Mapping[str, pl.DataType],
        required: frozenset[str],
        texts: Mapping[str, Change],
    ) -> None:
        self._dialect = dialect
        rows = pl.List(pl.String()) if dialect.many else pl.String()
        envelope = {TYPE: pl.String(), DATABASE: pl.String(), TABLE: pl.String(), DATA: rows, OLD: rows}
        self._decoder = JsonDecoder({}, envelope, frozenset())
        self._rows = ChangedRowsDecoder(options, columns, required, texts)
        self._included = {
            column: options[option]
            for column in (DATABASE, TABLE)
            if (option := f"{dialect.form}.{column}.include") in options
        }
        self._tables: set[str] = set()
        for column, names in self._included.items():
            _check_names(f"{dialect.form}.{column}.include", names)

    def decode(self, records: Records) -> Decoded:
        """Decode all of them; a record of which one row is bad is bad as a whole."""
        read = self._decoder.decode(records)
        places = np.arange(len(records)) if read.kept is None else read.kept
        frame = read.frame.with_columns(pl.Series(_AT, places, pl.Int64))
        for column, names in self._included.items():
            frame = frame.filter(pl.col(column).str.contains(_whole(names)))
        bad = dict(read.bad) | self._odd(frame)
        is_row = pl.col(TYPE).is_in([*self._dialect.comes, *self._dialect.goes])
        rows = frame.filter(is_row & ~pl.col(_AT).is_in([*bad]))
        decoded = self._rows.decode(self._changes(rows), bad)
        return replace(decoded, notes=[*self._remarks(frame, rows), *decoded.notes])

    def _changes(self, rows: pl.DataFrame) -> ChangedRows:
        if self._dialect.many:
            old = pl.when(self._is_update()).then(OLD).otherwise(DATA)
            rows = rows.with_columns(old.alias(OLD)).filter(pl.col(DATA).list.len() > 0).explode(DATA, OLD)
        goes, comes = (rows[TYPE].is_in(types).to_numpy() for types in (self._dialect.goes, self._dialect.comes))
        return ChangedRows(rows[DATA], rows[OLD], rows[_AT].to_numpy(), goes, comes)

    def _is_update(self) -> pl.Expr:
        return pl.col(TYPE).is_in([*self._dialect.goes]) & pl.col(TYPE).is_in([*self._dialect.comes])

    def _odd(self, frame: pl.DataFrame) -> dict[int, str]:
        """The changes that cannot be read as such, and why."""
        dialect = self._dialect
        of_rows = dict.fromkeys((*dialect.comes, *dialect.goes))
        known = [*of_rows, *dialect.passed, *dialect.altered, *dialect.lost]
        found: dict[int, str] = {}
        for at, given in frame.filter(~pl.col(TYPE).is_in(known).fill_null(False)).select(_AT, TYPE).iter_rows():
            said = "missing" if given is None else repr(given)
            found[at] = f"its 'type' is {said}, and a change has {', '.join(of_rows)}"
        for at, given in frame.filter(pl.col(TYPE).is_in(dialect.lost)).select(_AT, TYPE).iter_rows():
            found[at] = f"its 'type' is '{given}', and a topology cannot take back rows that it does not know"
        for condition, reason in self._missing(pl.col(TYPE).is_in([*of_rows])):
            for at, given in frame.filter(condition).select(_AT, TYPE).iter_rows():
                found.setdefault(at, f"its 'type' is '{given}' and {reason}")
        return found

    def _missing(self, is_row: pl.Expr) -> Iterator[tuple[pl.Expr, str]]:
        yield is_row & pl.col(DATA).is_null(), "it has no 'data': its rows have to be there"
        yield self._is_update() & pl.col(OLD).is_null(), "it has no 'old': a changed row has to say what it was"
        if self._dialect.many:
            other = pl.col(OLD).list.len() != pl.col(DATA).list.len()
            yield self._is_update() & other, "'old' has not as many rows as 'data'"

    def _remarks(self, frame: pl.DataFrame, rows: pl.DataFrame) -> Sequence[str]:
        """That a table was altered, and that the rows of several tables are read as one."""
        said = [
            f"the table {table} was altered: rows that were read before stay as they were"
            for table in _names(frame.filter(pl.col(TYPE).is_in(self._dialect.altered)))
        ]
        before = len(self._tables)
        self._tables.update(_names(rows))
        if len(self._tables) > max(1, before) and before < _TABLES_NAMED:
            names = ", ".join(sorted(self._tables)[:_TABLES_NAMED])
            said.append(
                f"the records are of several tables, which are read as one: {names}; "
                f"'{self._dialect.form}.table.include' = '...' reads only some"
            )
        return said


def _whole(names: str) -> str:
    return f"^(?:{names})$"


def _check_names(option: str, names: str) -> None:
    try:
        pl.select(pl.lit("").str.contains(_whole(names)))
    except pl.exceptions.ComputeError:
        raise ConnectorError(f"'{option}' = '{names}' is no regular expression") from None


def _names(frame: pl.DataFrame) -> list[str]:
    """`database.table` of each."""
    name = pl.concat_str(pl.col(DATABASE).fill_null("?"), pl.lit("."), pl.col(TABLE).fill_null("?"))
    return frame.select(name.unique().sort()).to_series().to_list()
