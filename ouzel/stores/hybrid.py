"""A hybrid table: what a batch store holds up to its boundary, and what a stream has summed since, as tables and a view over both.

The boundary, the files of the version and the columns are written into the query's text, so whoever runs that text later reads the same
version.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ouzel.compiler.sql.statements.ddl import column_texts, name_text, string_text, table_text
from ouzel.compiler.types import TimestampType
from ouzel.connectors import CONNECTORS
from ouzel.errors import QueryError
from ouzel.stores.batcher import Batcher, BatchID, BatchRange, parse_batcher
from ouzel.stores.client import missing_text
from ouzel.stores.columns import StoreColumns
from ouzel.stores.folder import FolderStore
from ouzel.stores.merging import file_options, merged_select
from ouzel.stores.rows import StoredStream

DeclaredTables = Mapping[str, Mapping[str, str]]
"""Tables by name, each with what WITH holds."""


def define_hybrid(
    name: str, options: Mapping[str, str], directory: Path, tables: DeclaredTables
) -> tuple[str, list[str]]:
    """The statements that a hybrid table is made of, in one line, and notes for the user.

    Args:
        name: the table's.
        options: what WITH holds, without 'connector'.
        directory: where relative paths start.
        tables: those that the query declares.

    Raises:
        QueryError: there is no store, it cuts time in another way, or a batch is missing.
        ConnectorError: the store cannot be read.
    """
    store = FolderStore(directory / options["batch"])
    page, version = store.page, store.version()
    if "batcher" in options and str(parse_batcher(options["batcher"])) != str(page.batcher):
        raise QueryError(
            f"the store cuts time by '{page.batcher}', not by '{options['batcher']}'", instead="leave 'batcher' out"
        )
    columns, since = page.columns, version.batches.end
    stream, given = options["stream"], tables.get(options["stream"])
    with_options = dict(given) if given is not None else file_options(directory / stream)
    _refuse_rows_by_key(stream, with_options)
    notes = _check_holes(
        name, options, page.batcher, since, StoredStream(page.batcher, columns, stream, with_options, directory)
    )
    batch_table, stream_table = f"{name}_batch", stream if given is not None else f"{name}_stream"
    made = [table_text(batch_table, column_texts(columns.totals), file_options(version.path))]
    if given is None:
        made.append(table_text(stream_table, column_texts(columns.sums), with_options))
    rows = (
        f"{name_text(stream_table)} WHERE {name_text(columns.time.name)} >= {_boundary(columns, page.batcher, since)}"
    )
    made.append(f"CREATE VIEW {name_text(name)} AS {merged_select(columns, [name_text(batch_table), rows])}")
    return "; ".join(made).replace("\n", " "), notes


def _refuse_rows_by_key(stream: str, options: Mapping[str, str]) -> None:
    connector = options.get("connector", "")
    row = CONNECTORS.get(connector)  # of one that is not there it is told when its table is made
    if row and row.keyed and row.writes and row.writes.replaces(options):
        raise QueryError(
            f"the sums in '{stream}' are rows by key in a server of {connector}, and SQL reads none such",
            instead="read both sides in Python with ClientStore, or let the stream write its sums to files",
        )


def _boundary(columns: StoreColumns, batcher: Batcher, since: BatchID) -> str:
    kind, time = columns.time.type, batcher.earliest_time_of(since)
    text = string_text(time.isoformat(" "))
    local = isinstance(kind, TimestampType) and kind.local
    return f"CAST(TIMESTAMP {text} AS {kind})" if local else f"TIMESTAMP {text}"


def _check_holes(
    name: str, options: Mapping[str, str], batcher: Batcher, since: BatchID, stream: StoredStream
) -> list[str]:
    """Notes on batches that neither side has.

    Raises:
        QueryError: there are some, and 'holes' does not say that they are only to be told.
    """
    if not stream.at_rest:
        return [f"batches that are missing in the stream of {name} cannot be seen, for it goes on"]
    present = stream.batches()
    wanted = BatchRange(since, max([since, *(batch.next for batch in present)]))
    missing = [batch for batch in wanted if batch not in present]
    if not missing:
        return []
    problem = missing_text(batcher, missing)
    if options.get("holes") == "tell":
        return [f"{name}: {problem}"]
    raise QueryError(problem, instead="advance the batch job over it, or write 'holes' = 'tell' to take it as nothing")
