"""CREATE TABLE becomes what reads it: Scan, then computed columns, then the watermark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches

from ouzel.compiler.catalog import UNREAD, ConnectorTraits, connector_of
from ouzel.compiler.coercion import can_coerce, cast_to
from ouzel.compiler.expressions import Column, Expression, columns
from ouzel.compiler.plan import Node, Project, Scan, Watermark
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.expressions.literals import interval_us
from ouzel.compiler.sql.queries.intervals import microseconds_ahead
from ouzel.compiler.sql.queries.lookups import asked_by, without_clocks
from ouzel.compiler.sql.queries.scope import Relation, near, pick, relation_of
from ouzel.compiler.sql.statements.epochs import convert_epochs, holds_times, read_as
from ouzel.compiler.sql.statements.upserts import keyed_log, latest_rows
from ouzel.compiler.sql.syntax.foreign_streams import kafka_options
from ouzel.compiler.sql.syntax.queries import parse_expression
from ouzel.compiler.sql.syntax.source import QueryText, Tokens, span_of
from ouzel.compiler.sql.syntax.statements import ColumnClause, CreateTable, Name, WatermarkClause
from ouzel.compiler.sql.syntax.type_names import read_type
from ouzel.compiler.sql.syntax.words import is_quoted
from ouzel.compiler.types import VARCHAR, BytesType, DataType, Field, IntegerType, Schema, TimestampType, VarcharType
from ouzel.compiler.written import NodeLocation
from ouzel.errors import QueryError


@dataclass(frozen=True)
class Table:
    """A created table: how it is read, and what it takes when it is written."""

    name: str
    traits: ConnectorTraits
    options: tuple[tuple[str, str], ...]
    relation: Relation
    writable: Schema
    keys: tuple[str, ...]

    @property
    def is_log_of_keys(self) -> bool:
        """Whether it is written by key, and read record by record."""
        return bool(self.keys) and "upsert" in self.traits.modes and not self.relation.node.retracts


class _ColumnBinder(Binder):
    no_aggregates = "a column of CREATE TABLE is computed row by row"


def create_table(source: QueryText, statement: CreateTable, connectors: Mapping[str, ConnectorTraits]) -> Table:
    """The table that a CREATE TABLE makes.

    Raises:
        QueryError: unknown connector, option, type, column or metadata key; a watermark that is no time.
    """
    _refuse_twins(source, statement)
    statement = without_clocks(source, statement)
    traits = _connector(source, statement, connectors)
    options = _options(source, statement, traits)
    _check_fields(source, statement)
    _check_partitions(source, statement)
    name = statement.name.text
    epoch = traits.epoch(dict(options)) if traits.epoch else ""
    scan, declared = _scan(source, statement, traits, options, epoch)
    keys = _keys(
        source, statement, _compute_columns(source, statement, convert_epochs(scan, declared, epoch), declared)
    )
    scan = asked_by(keys, scan, traits)
    options = scan.options
    log = keyed_log(source, statement, traits, dict(options), keys, scan)
    read = convert_epochs(latest_rows(log, scan, traits.metadata) if log else scan, declared, epoch)
    node = _compute_columns(source, statement, read, declared)
    for clause in statement.watermarks:
        node = _watermark(source, clause, relation_of(node, name))
    _check_single(source, statement, dict(options), declared)
    physical = [column for column in statement.columns if not column.expression and not column.virtual]
    writable = Schema(tuple(Field(c.name.text, declared[c.name.text], not c.not_null) for c in physical))
    undated = f"add WATERMARK FOR {{column}} AS {{column}} - INTERVAL '5' SECOND to CREATE TABLE {name}"
    relation = Relation(node, relation_of(node, name).columns, undated=undated)
    return Table(name, traits, options, relation, writable, keys)


def _refuse_twins(source: QueryText, statement: CreateTable) -> None:
    seen: set[str] = set()
    for column in statement.columns:
        if column.name.text in seen:
            raise source.error(
                f"the column {column.name.text} is declared twice", column.name.span, "rename one of them"
            )
        seen.add(column.name.text)
    for what, found in (("WATERMARK", statement.watermarks), ("PRIMARY KEY", statement.keys)):
        if len(found) > 1:
            again = found[1].column if isinstance(found[1], WatermarkClause) else found[1][0]
            raise source.error(f"the table has two clauses {what}", again.span, "keep one")


def _connector(source: QueryText, statement: CreateTable, connectors: Mapping[str, ConnectorTraits]) -> ConnectorTraits:
    for option in statement.options:
        if option.key == "connector":
            found = connector_of(connectors, option.value)
            if found is None:
                if option.value in _GIVES_ONCE:
                    raise source.error(
                        f"there is no connector '{option.value}': what has come of one cannot be read again after a crash",
                        option.span,
                        "write it to a file that is read with 'follow' = 'true', or into Kafka",
                    )
                if option.value.endswith("-cdc"):
                    problem = f"there is no connector '{option.value}': no table of a database is read by itself"
                    raise source.error(problem, option.span, _read_changes(option.value, connectors))
                ours = _ELSEWHERE.get(option.value)
                advice = f"write '{ours}'" if ours in connectors else near(option.value, connectors)
                if ours and ours in connectors and not connectors[ours].reads:
                    advice += ", which is written and not read"
                raise source.error(f"there is no connector '{option.value}'", option.span, advice)
            return found
    for option in statement.options:
        if get_close_matches(option.key.lower(), ["connector"], 1, 0.75):
            raise source.error(f"there is no option '{option.key}'", option.span, "did you mean 'connector'?")
    topic = kafka_options({option.key.lower(): option.value for option in statement.options})
    if topic:
        raise source.error("these are options of ksqlDB", statement.options[0].span, f"write {topic}")
    raise source.error(
        f"the table {statement.name.text} does not say where its rows are",
        statement.name.span,
        ("for a name of a query write CREATE VIEW; for rows that are kept " if statement.query else "")
        + f"add WITH ('connector' = '...'), one of {', '.join(connectors)}",
    )


def _read_changes(name: str, connectors: Mapping[str, ConnectorTraits]) -> str:
    """How a database's changes are read, for the name that others have for a connector of these."""
    database = name.removesuffix("-cdc")
    is_written = database in connectors and not connectors[database].reads
    return (
        "let Debezium write its changes to Kafka or to files, and read these with 'format' = 'debezium-json': "
        "WITH ('connector' = 'kafka', 'topic' = '...', 'format' = 'debezium-json')"
        + f"; '{database}' is only written"
        * is_written
    )


_ELSEWHERE = {
    "filesystem": "file", "posix_fs": "file", "faker": "datagen", "stdout": "print", "console": "print",
    "jdbc": "postgres", "postgresql": "postgres",
}  # fmt: skip
"""What others call a connector that we have."""

_GIVES_ONCE = ("socket", "stdin", "pipe")
"""What others read that can give nothing again; no connector can be one of these (`Replay`)."""


def _options(source: QueryText, statement: CreateTable, traits: ConnectorTraits) -> tuple[tuple[str, str], ...]:
    """The options in the connector's own names, all of which it knows."""
    seen: set[str] = set()
    for option in statement.options:
        if option.key in seen:
            raise source.error(f"the option '{option.key}' is given twice", option.span, "keep one")
        seen.add(option.key)
    options = {option.key: option.value for option in statement.options if option.key != "connector"}
    called = next(option.value for option in statement.options if option.key == "connector")
    try:
        if traits.canonical:
            options = traits.canonical(options)
        options = {**traits.variants.get(called, {}), **options}
        if traits.check:
            traits.check(options)
    except QueryError as error:
        if fields := _own_fields(statement):
            error.instead = error.instead.replace("'a, b, c'", f"'{', '.join(fields)}'")
        start, end = _guilty(statement, error, traits)
        raise error.located(source.text, start, end - start) from None
    return tuple((options | _note_quoted(statement, traits, options)).items())


def _own_fields(statement: CreateTable) -> list[str]:
    """The declared columns that the records have: none that is computed, metadata or the name of a folder."""
    own = [column.name.text for column in statement.columns if not column.expression and column.metadata is None]
    return [name for name in own if not any(pick(folder, [name]) for folder in statement.partitions)]


def _check_fields(source: QueryText, statement: CreateTable) -> None:
    """See that options of single columns (`fields.<column>.<setting>`) are of columns that the connector gives."""
    names = [column.name.text for column in statement.columns if not column.expression]
    for option in statement.options:
        field = option.key.removeprefix("fields.").rpartition(".")[0]
        if option.key.startswith("fields.") and not any(
            field == name or field.startswith(f"{name}.") for name in names
        ):
            raise source.error(f"the option '{option.key}' is of no column", option.span, near(field, names))


def _check_partitions(source: QueryText, statement: CreateTable) -> None:
    """See that PARTITIONED BY names columns of the data."""
    names = [column.name.text for column in statement.columns if not column.expression and column.metadata is None]
    for name in statement.partitions:
        if not pick(name, names):
            raise source.error(
                f"PARTITIONED BY names {name.text}, and the table declares no such column",
                name.span,
                near(name.text, names, f"declare it with its type: {name.text} VARCHAR"),
            )


def _check_single(
    source: QueryText, statement: CreateTable, options: Mapping[str, str], declared: Mapping[str, DataType]
) -> None:
    """See that a format whose record is one value has one column of it; a key and the folders of a partition stand elsewhere."""
    if options.get("format") != "raw":
        return
    elsewhere = {options.get("key.field"), *options.get("key.fields", "").split(",")}
    elsewhere |= {name.text for name in statement.partitions}
    of_record = [
        column.name
        for column in statement.columns
        if not column.expression and column.metadata is None and column.name.text not in elsewhere
    ]
    for name in of_record[1:2] or of_record:
        if len(of_record) > 1 or not isinstance(declared[name.text], VarcharType | BytesType):
            raise source.error(
                f"the format 'raw' holds the whole record as one column of type VARCHAR or BYTES, and there is {name.text} "
                f"{declared[name.text]}{' too' * (len(of_record) > 1)}",
                name.span,
                "declare one column, line VARCHAR, and take it apart or put it together in the query; or write 'format' = 'csv' or 'json'",
            )


def _note_quoted(statement: CreateTable, traits: ConnectorTraits, options: Mapping[str, str]) -> dict[str, str]:
    """The option that says which columns are quoted, where their format asks for it: all are, if one cannot stand in a list."""
    option = traits.quoted(options) if traits.quoted else ""
    names = [name for column in statement.columns if not column.expression for name in _list_quoted(column)]
    if not option or not names:
        return {}
    said = [name for name in options.get(option, "").split(",") if name]
    is_list = all("," not in name and name == name.strip() and name for name in names)
    return {option: ",".join([*said, *names]) if is_list else "*"}


def _list_quoted(column: ColumnClause) -> Iterator[str]:
    """The column, if it is in quotes, and as `column.field` those fields of its type that are."""
    if column.name.quoted:
        yield column.name.text
    for token in column.type:
        if is_quoted(token):
            yield f"{column.name.text}.{token.text}"


def _guilty(statement: CreateTable, error: QueryError, traits: ConnectorTraits) -> tuple[int, int]:
    """The option that an error of the connector's check names; else the option 'connector'."""
    named = [
        option
        for option in statement.options
        if any(f"'{name}'" in error.problem for name in _names(option.key, option.value, traits))
    ]
    blamed = named or [option for option in statement.options if option.key == "connector"]
    return blamed[0].span


def _names(key: str, value: str, traits: ConnectorTraits) -> set[str]:
    """An option's name as it is written, and the connector's own."""
    names = {key}
    if traits.canonical:
        with suppress(QueryError):  # it means something else there
            names |= traits.canonical({key: value}).keys()
    return names


def _scan(
    source: QueryText, statement: CreateTable, traits: ConnectorTraits, options: tuple[tuple[str, str], ...], epoch: str
) -> tuple[Scan, dict[str, DataType]]:
    fields: list[Field] = []
    metadata: list[tuple[str, str]] = []
    declared: dict[str, DataType] = {}
    for column in statement.columns:
        if column.expression:
            continue
        name, kind = column.name.text, read_type(source, column.type)
        declared[name] = kind
        if column.metadata is not None:
            metadata.append((name, column.metadata))
            kind = _metadata_type(source, column, traits, kind)
        elif epoch and holds_times(kind):
            advice = "declare BIGINT inside of it, and compute TO_TIMESTAMP_LTZ(value, 3)"
            raise source.error(f"'timestamp.epoch' is of whole columns, and {name} is {kind}", column.name.span, advice)
        else:
            kind = read_as(kind, epoch)
        fields.append(Field(name, kind, not column.not_null))
    if not fields:
        raise source.error(
            f"the table {statement.name.text} has no column to read", statement.name.span, "declare one with its type"
        )
    scan = Scan(
        statement.name.text,
        traits.name,
        options,
        Schema(tuple(fields)),
        tuple(metadata),
        written=NodeLocation(begins=statement.name.span[0]),
        traits=traits.reads(dict(options)) if traits.reads else UNREAD,
    )
    return scan, declared


def _metadata_type(source: QueryText, column: ColumnClause, traits: ConnectorTraits, declared: DataType) -> DataType:
    key = column.metadata or ""
    if key not in traits.metadata:
        otherwise = f"the connector {traits.name} has none"
        raise source.error(
            f"the connector {traits.name} has no metadata '{key}'",
            column.name.span,
            near(key, traits.metadata, otherwise),
        )
    actual = traits.metadata[key]
    if not can_coerce(actual, declared):
        raise source.error(
            f"the metadata '{key}' is {actual}, not {declared}",
            span_of(column.type),
            f"declare {column.name.text} {actual} METADATA",
        )
    return actual


def _compute_columns(source: QueryText, statement: CreateTable, scan: Node, declared: Mapping[str, DataType]) -> Node:
    relation = relation_of(scan, statement.name.text)
    items: list[tuple[str, Expression]] = []
    for column in statement.columns:
        name = column.name.text
        if column.expression:
            items.append((name, _expression(source, column.expression, relation, column)))
        else:
            items.append((name, cast_to(Column(scan.schema[name].type, name), declared[name])))
    plain = tuple(zip(scan.schema.names, columns(scan.schema), strict=True))
    return scan if tuple(items) == plain else Project(scan, tuple(items))


def _expression(source: QueryText, tokens: Tokens, relation: Relation, column: ColumnClause) -> Expression:
    bound = _ColumnBinder(source, relation).bind(parse_expression(source, tokens))
    if not column.type:
        return bound
    kind = read_type(source, column.type)
    if not can_coerce(bound.type, kind):
        raise source.error(f"the expression is {bound.type}, not {kind}", span_of(tokens), f"write CAST(... AS {kind})")
    return cast_to(bound, kind)


def _watermark(source: QueryText, clause: WatermarkClause, relation: Relation) -> Watermark:
    column = _own_column(source, clause.column, relation)
    kind = relation.node.schema[column].type
    if not isinstance(kind, TimestampType):
        raise source.error(
            f"{column} is {kind}, and event time is a TIMESTAMP",
            clause.column.span,
            f"compute one: ts AS TO_TIMESTAMP_LTZ({column}, 3) of milliseconds, with 0 of seconds"
            if isinstance(kind, IntegerType)
            else _advise_time(column, kind, _delay(source, clause)),
        )
    bound = _ColumnBinder(source, relation).bind(parse_expression(source, clause.expression))
    if bound.type != kind:
        raise source.error(
            f"the watermark is {bound.type} and its column {kind}",
            span_of(clause.expression),
            f"write {column} - INTERVAL '5' SECOND",
        )
    if (microseconds_ahead(bound, column) or 0) > 0:
        raise _of_future(source, clause, column)
    return Watermark(relation.node, column, bound, _idle_ms(source, clause))


def _advise_time(column: str, kind: DataType, delay: str) -> str:
    """How a column that is no time becomes one that a watermark may be of."""
    computed = "event_time" if column != "event_time" else "ts"
    clause = f"WATERMARK FOR {computed} AS {computed} - {delay}"
    reads = "which reads such texts; " if kind == VARCHAR else ""
    return (
        f"declare {column} TIMESTAMP(3), {reads}or compute one of another name: "
        f"{computed} AS CAST({column} AS TIMESTAMP(3)), and {clause}"
    )


def _delay(source: QueryText, clause: WatermarkClause) -> str:
    """The delay of a watermark as it is written; five seconds if none is."""
    span = re.search("(?is)INTERVAL.*", source.text[slice(*span_of(clause.expression))])
    return span[0].replace("'-", "'") if span else "INTERVAL '5' SECOND"


def _of_future(source: QueryText, clause: WatermarkClause, column: str) -> QueryError:
    """The error for a watermark that is ahead of the times that it is computed of."""
    problem = f"the watermark is ahead of {column}, so that each row would be late"
    return source.error(problem, span_of(clause.expression), f"write {column} - {_delay(source, clause)}")


def _idle_ms(source: QueryText, clause: WatermarkClause) -> int | None:
    if clause.idle is None:
        return 30_000
    return interval_us(source, clause.idle, span_of(clause.idle)) // 1000 if clause.idle else None


def _own_column(source: QueryText, name: Name, relation: Relation) -> str:
    names = [column.name for column in relation.columns]
    found = pick(name, names)
    if not found:
        raise source.error(
            f"there is no column {name.text} in {relation.columns[0].table}", name.span, near(name.text, names)
        )
    return names[found[0]]


def _keys(source: QueryText, statement: CreateTable, node: Node) -> tuple[str, ...]:
    relation = relation_of(node, statement.name.text)
    return tuple(_own_column(source, name, relation) for key in statement.keys for name in key)
