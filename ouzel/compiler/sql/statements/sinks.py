"""INSERT INTO and the trailing SELECT: columns fitted to the table, and how changes leave the topology."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from sqlglot import exp

from ouzel.compiler.catalog import RESULT, RETURNED
from ouzel.compiler.coercion import can_coerce, cast_to
from ouzel.compiler.expressions import Column, Literal, columns_of
from ouzel.compiler.plan import (
    MERGED,
    Aggregate,
    Filter,
    Gather,
    Join,
    Node,
    Over,
    Project,
    SideJoin,
    Sink,
    SinkMode,
    TopN,
    check_merged,
    choose_mode,
    keeps_rows,
    names_at_top,
    scans_in,
    streamed_inputs,
    walk,
)
from ouzel.compiler.sql.queries.limits import USELESS
from ouzel.compiler.sql.queries.output import OutputColumn, project, star_of, strip_alias
from ouzel.compiler.sql.queries.scope import Relation, near, pick
from ouzel.compiler.sql.statements.tables import Table
from ouzel.compiler.sql.syntax.foreign_copy import compose_command
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.queries import parse_query
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import Insert
from ouzel.compiler.types import DATE, NULL, DataType, DateType, Field, TimestampType
from ouzel.errors import QueryError


def result_sink(source: QueryText, relation: Relation) -> Sink:
    """The sink of a trailing SELECT."""
    if relation.chosen_by is not None:
        by = source.text[slice(*place(relation.chosen_by))]
        problem = f"the first rows are chosen by {by}, which is not selected, so they are not shown in its order"
        source.note(problem, place(relation.chosen_by), f"add {by} to the select list")
    mode = SinkMode.RETRACT if relation.node.retracts else SinkMode.APPEND
    columns = relation.node.schema
    return Sink(relation.node, RESULT, RESULT, (), mode, columns=columns, sorted_by=relation.sorted_by, traits=RETURNED)


def table_sink(source: QueryText, statement: Insert, table: Table, relation: Relation) -> Sink:
    """The sink of INSERT INTO.

    Raises:
        QueryError: the columns do not fit, or the connector does not take what the query gives.
    """
    targets = _targets(source, statement, table)
    shown = relation.node.input if isinstance(relation.node, Gather) else relation.node
    if relation.sorted_by and not isinstance(shown, TopN):
        source.note(USELESS, statement.name.span, "remove it, or add LIMIT")
    if len(targets) != len(relation.columns):
        problem = f"the query gives {_count(relation.columns)} and {table.name} takes {_count(targets)}"
        raise source.error(problem, statement.name.span, _advise_count(statement, table, relation, targets))
    _check_types(source, statement, table, relation, targets)
    _note_order(source, statement, table, relation, targets)
    given = dict(zip(targets, relation.columns, strict=True))
    outputs = []
    for field in table.writable:
        if field.name in given:
            outputs.append(OutputColumn(field.name, cast_to(relation.column(given[field.name]), field.type)))
        else:
            outputs.append(_absent(source, statement, table, field))
    fitted = project(relation, outputs)
    mode, traits = _mode(source, statement, table, fitted), table.traits.writes
    assert traits is not None, "one that cannot be written was refused"
    keys = table.keys if mode in (SinkMode.UPSERT, SinkMode.MERGE) else ()
    return Sink(fitted.node, table.name, table.traits.name, table.options, mode, keys, table.writable, traits=traits)


def _advise_count(statement: Insert, table: Table, relation: Relation, targets: Sequence[str]) -> str:
    """What to write where the query gives more or fewer columns than the table takes: those that it lacks, if it names the others."""
    given = {column.name.lower() for column in relation.columns}
    present = [target for target in targets if target.lower() in given]
    if len(relation.columns) > len(targets) or statement.columns:
        return f"select ({', '.join(targets)})"
    if len(present) != len(relation.columns):  # columns go by position
        present = list(targets[: len(relation.columns)])
    absent = [target for target in targets if target not in present]
    lacking = f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} missing"
    return f"{lacking}: add to the SELECT, or write INSERT INTO {table.name} ({', '.join(present)}) SELECT ..."


def _check_types(
    source: QueryText, statement: Insert, table: Table, relation: Relation, targets: Sequence[str]
) -> None:
    """See that each column of the query fits the one at its position. All that do not are told at once; so are two that changed places."""
    types = [relation.column(column).type for column in relation.columns]
    wanted = [table.writable[name].type for name in targets]
    misfits = [at for at in range(len(targets)) if not can_coerce(types[at], wanted[at])]
    if not misfits:
        return
    spans = {at: _item(source, statement, at) for at in misfits}
    shown = {at: relation.columns[at].name if span is None else source.text[slice(*span)] for at, span in spans.items()}
    casts = " and ".join(_write_as(shown[at], wanted[at]) for at in misfits)
    advice = f"write {casts}"
    if len(misfits) == 2 and all(can_coerce(types[a], wanted[b]) for a, b in (misfits, misfits[::-1])):
        names = list(targets)
        first, second = misfits
        names[first], names[second] = names[second], names[first]
        advice = f"columns go by position: write INSERT INTO {table.name} ({', '.join(names)}), or {casts}"
    problem = ", ".join(f"{shown[at]} is {types[at]} and {table.name}.{targets[at]} is {wanted[at]}" for at in misfits)
    raise source.error(problem, spans[misfits[0]] or statement.name.span, advice)


def _note_order(source: QueryText, statement: Insert, table: Table, relation: Relation, targets: Sequence[str]) -> None:
    """Tell of columns that have the names of the table's in another order: they go by position."""
    names = [column.name for column in relation.columns]
    lower = [name.lower() for name in names]
    wanted = [target.lower() for target in targets]
    if not statement.columns and lower != wanted and sorted(lower) == sorted(wanted):
        at = next(at for at in range(len(names)) if lower[at] != wanted[at])
        problem = f"columns go by position, so that {names[at]} becomes {table.name}.{targets[at]}"
        source.note(problem, statement.name.span, f"write INSERT INTO {table.name} ({', '.join(names)})")


def _write_as(shown: str, kind: DataType) -> str:
    """How what is written so becomes a value of that type."""
    if isinstance(kind, DateType | TimestampType) and shown.startswith("'"):
        return f"{'DATE' if kind == DATE else 'TIMESTAMP'} {shown}"
    return f"CAST({shown} AS {kind})"


def _item(source: QueryText, statement: Insert, at: int) -> Span | None:
    """Where the column at that position is written; None where the query is no SELECT with a list of them."""
    tree = parse_query(source, statement.query).tree
    if isinstance(tree, exp.Values) and tree.expressions and isinstance(tree.expressions[0], exp.Tuple):
        row = tree.expressions[0].expressions  # of several rows the first shows what is meant
        return source.with_parentheses(*place(row[at])) if at < len(row) else None
    items = tree.expressions[: at + 1] if isinstance(tree, exp.Select) else []
    if len(items) <= at or any(map(star_of, items)):
        return None
    return source.with_parentheses(*place(strip_alias(items[at])))


def _count(columns: Sequence[object]) -> str:
    return f"{len(columns)} column{'s' * (len(columns) != 1)}"


def _targets(source: QueryText, statement: Insert, table: Table) -> list[str]:
    if not statement.columns:
        return list(table.writable.names)
    targets: list[str] = []
    for name in statement.columns:
        found = pick(name, table.writable.names)
        if not found:
            raise source.error(
                f"{table.name} takes no column {name.text}", name.span, near(name.text, table.writable.names)
            )
        if table.writable.names[found[0]] in targets:
            raise source.error(f"the column {name.text} is given twice", name.span, "keep one")
        targets.append(table.writable.names[found[0]])
    return targets


def _absent(source: QueryText, statement: Insert, table: Table, field: Field) -> OutputColumn:
    if not field.nullable:
        raise source.error(
            f"{table.name}.{field.name} is NOT NULL and gets no value",
            statement.name.span,
            f"add {field.name} to the columns",
        )
    return OutputColumn(field.name, cast_to(Literal(NULL, None), field.type))


def _mode(source: QueryText, statement: Insert, table: Table, fitted: Relation) -> SinkMode:
    if not table.traits.writes:
        raise source.error(
            f"the connector {table.traits.name} cannot be written",
            statement.name.span,
            "insert into a table of another connector",
        )
    reason = table.traits.unwritable(dict(table.options)) if table.traits.unwritable else ""
    if reason:
        raise source.error(
            f"{table.name} cannot be written: {reason}", statement.name.span, "insert into another table"
        )
    mode = choose_mode(table.traits, table.options, changes=fitted.node.retracts, keyed=bool(table.keys))
    if mode is None and not fitted.node.retracts:
        raise source.error(
            f"{table.name} adds up rows that have the same key, and has none",
            statement.name.span,
            f"declare PRIMARY KEY (...) NOT ENFORCED in CREATE TABLE {table.name}",
        )
    if mode is None:
        raise _refuse_changes(source, statement, table, fitted)
    if mode is SinkMode.UPSERT:
        _check_keys(source, statement, table, fitted)
    if mode is SinkMode.MERGE:
        try:
            check_merged(table.name, table.traits.writes.merged(dict(table.options)), table.keys, table.writable)
        except QueryError as error:
            raise source.error(error.problem, statement.name.span, error.instead) from None
    return mode


def _check_keys(source: QueryText, statement: Insert, table: Table, fitted: Relation) -> None:
    """Two rows of the query under one PRIMARY KEY would overwrite each other in turn."""
    for key in table.keys:
        if key not in table.writable:
            raise source.error(
                f"the PRIMARY KEY column {key} of {table.name} is computed and never written",
                statement.name.span,
                "take a written column",
            )
    groups = row_key(fitted.node)
    if groups and not all(group & set(table.keys) for group in groups):
        wanted = ", ".join(min(group, key=fitted.node.schema.names.index) for group in groups)
        raise source.error(
            f"the query has a row for each ({wanted}), and PRIMARY KEY ({', '.join(table.keys)}) of {table.name} does not tell them apart",
            statement.name.span,
            f"declare PRIMARY KEY ({wanted}) NOT ENFORCED",
        )
    _check_lives(source, statement, table, fitted.node)
    _check_hidden(source, statement, table, fitted.node)
    _check_moves(source, statement, table, fitted.node)


def _check_hidden(source: QueryText, statement: Insert, table: Table, node: Node) -> None:
    """A key of GROUP BY that no column of the PRIMARY KEY is computed of tells rows apart that write over each other."""
    node, above = _below_steps(node)
    projects = [step for step in above if isinstance(step, Project)]
    for group in (row_key(node) or []) if isinstance(node, Aggregate) else []:
        names = group
        for step in reversed(projects):
            names = frozenset(name for name, value in step.items if names & columns_of(value))
        if not names & set(table.keys) and not any(name.startswith("$grouping") for name in group):
            key = min(group)
            raise source.error(
                f"the query has a row for each {key} too, which PRIMARY KEY ({', '.join(table.keys)}) of {table.name} does not tell apart",
                statement.name.span,
                f"leave {key} out of GROUP BY, or give {table.name} a column for it in its PRIMARY KEY",
            )


def _check_lives(source: QueryText, statement: Insert, table: Table, node: Node) -> None:
    """A key that is forgotten has a row for each of its lives, which the keys that a query shows do not tell apart."""
    node, _ = _below_steps(node)
    if isinstance(node, Aggregate | Over | TopN) and node.lifetime:
        span = f"INTERVAL '{node.lifetime.us // 1_000_000}' SECOND"
        raise source.error(
            f"a key that is forgotten (STATE_TTL) begins anew with another row, and PRIMARY KEY ({', '.join(table.keys)}) of {table.name} "
            "does not tell the two apart",
            statement.name.span,
            f"GROUP BY SESSION(ts, {span}) too, EMIT CHANGES, and take SESSION_START(ts, {span}) into the PRIMARY KEY; "
            "or insert into a table that takes changes",
        )


def _check_moves(source: QueryText, statement: Insert, table: Table, node: Node) -> None:
    """A row of a join or of OVER is with the task of its keys. When these change, another task makes the new than takes back the old."""
    node, above = _below_steps(node, through=SideJoin)
    if not isinstance(node, Join | Over) or not any(upstream.retracts for upstream in node.inputs):
        return
    what = "JOIN" if isinstance(node, Join) else "OVER"
    for pair in node.keys if isinstance(node, Join) else zip(node.partition):
        shown = names_at_top(frozenset(pair) & frozenset(node.schema.names), above)
        if not shown & set(table.keys):
            key = min(shown, default=pair[0])
            raise source.error(
                f"a row of this {what} is made anew by another task when its {key} changes, and the old one, taken back late, would delete "
                f"the new one of the same PRIMARY KEY ({', '.join(table.keys)}) of {table.name}",
                statement.name.span,
                f"declare PRIMARY KEY ({', '.join([*table.keys, key])}) NOT ENFORCED",
            )


def _below_steps(node: Node, through: type[Node] = Project) -> tuple[Node, list[Node]]:
    """What makes the rows that steps of one row each show, and these steps from the top; some go on `through` another kind of node."""
    above: list[Node] = []
    while isinstance(node, Project | Filter | Gather | through):
        above.append(node)
        (node,) = streamed_inputs(node)
    return node, above


def row_key(node: Node) -> list[frozenset[str]] | None:
    """What tells the rows of an aggregate apart: one column of each of these sets; None when it is not known.

    The columns of a window say the same, so they are one set.
    """
    match node:
        case Aggregate(keys=keys, window=window):
            said = frozenset(name for name in window or () if name)
            return [frozenset({key}) for key in keys if key not in said] + ([said] if said else [])
        case Filter() | Gather():
            return row_key(node.input)
        case Project(items=items):
            below = row_key(node.input)
            shown = [(name, value.name) for name, value in items if isinstance(value, Column)]
            groups = [frozenset(name for name, column in shown if column in group) for group in below or ()]
            return groups if below is not None and all(groups) else None
    return None


def _refuse_changes(source: QueryText, statement: Insert, table: Table, relation: Relation) -> QueryError:
    changing = [node for node in walk(relation.node) if isinstance(node, Aggregate) and node.retracts]
    if changing:
        what = f"the aggregate GROUP BY ({', '.join(changing[0].keys)}) changes rows it has emitted"
        way = "" if changing[0].emit.lateness_us else "use EMIT AFTER WATERMARK with a window, or "
    elif joins := [
        node for node in walk(relation.node) if isinstance(node, Join) and keeps_rows(node) and node.retracts
    ]:
        what = f"a {joins[0].kind.value.upper()} JOIN takes back that a row has no match when one comes"
        way = "use an INNER JOIN, or "
    elif any(isinstance(node, Over) and node.retracts for node in walk(relation.node)):
        what = "a row of OVER changes when others come"
        way = "use OVER (ORDER BY the event time) with frames that look back, or a window of time, or "
    else:
        tables = (scan.table for scan in scans_in(walk(relation.node)) if scan.retracts)
        what, way = f"{next(tables)} takes rows back", ""
    if MERGED in dict(table.options):
        other = f"leave '{MERGED}' out of {table.name}, so that its rows are replaced"
    elif "upsert" in table.traits.modes:
        other = f"declare PRIMARY KEY (...) NOT ENFORCED in CREATE TABLE {table.name}"
    elif table.traits.writes and table.traits.writes.changes_by:
        name, value = table.traits.writes.changes_by
        other = f"add '{name}' = '{value}' to {table.name}, which then holds each change as a row"
    else:
        other = "a sink that accepts updates: one whose connector takes upsert or retract"
    return source.error(
        f"{table.name} ({table.traits.name}) only takes new rows, and {what}",
        statement.name.span,
        f"{way}{other}{_answer_alone(table)}",
    )


def _answer_alone(table: Table) -> str:
    """Where the sink is a file: the command that writes the answer once, as it is at the end; else nothing."""
    options = dict(table.options)
    if "path" not in options or options.get("format") not in ("csv", "json", "parquet"):
        return ""
    command = compose_command(options["format"], PurePath(options["path"]).name)
    return f"; for the answer as it is at the end write SELECT alone, and run {command}"
