"""JOIN ... FOR SYSTEM_TIME AS OF PROCTIME(): a table that is asked by key, as it is when a row comes."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.expressions import Call, Column, Expression, conjunction, conjuncts
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Join, JoinKind, Node, Scan, SideJoin, scans_in, walk
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.intervals import of_join
from ouzel.compiler.sql.queries.joins import UNDATED, apart, extract_keys
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens
from ouzel.compiler.sql.syntax.statements import CreateTable
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported

_KINDS = {
    ("", ""): JoinKind.INNER, ("", "INNER"): JoinKind.INNER, ("LEFT", ""): JoinKind.LEFT, ("LEFT", "OUTER"): JoinKind.LEFT,
}  # fmt: skip

_CLOCK = ["PROCTIME", "(", ")"]


def without_clocks(source: QueryText, statement: CreateTable) -> CreateTable:
    """The statement without columns AS PROCTIME(), which only FOR SYSTEM_TIME AS OF may name."""
    clocks = [column for column in statement.columns if column.expression and _is_clock(column.expression)]
    source.clocks.update(column.name.text.lower() for column in clocks)
    return replace(statement, columns=tuple(column for column in statement.columns if column not in clocks))


def _is_clock(expression: Tokens) -> bool:
    return [token.text.upper() for token in expression] == _CLOCK


def asked_by(keys: tuple[str, ...], scan: Scan, traits: ConnectorTraits) -> Scan:
    """The scan of a table that is asked by its PRIMARY KEY, unless its options name another column."""
    if scan.traits.asked is None or scan.traits.asked.key or len(keys) != 1 or traits.reads is None:
        return scan
    options = (*scan.options, ("key.fields", keys[0]))
    return replace(scan, options=options, traits=traits.reads(dict(options)))


def is_lookup(source: QueryText, join: exp.Join, left: Relation) -> bool:
    """Whether a JOIN asks for another table as it is by the clock."""
    version = join.this.args.get("version")
    time = version and version.expression
    if isinstance(time, exp.Column):
        table, name = time.table.lower(), time.name.lower()
        own = (one for one in left.columns if one.name.lower() == name and table in ("", one.table.lower()))
        return name in source.clocks and not any(own)
    return isinstance(time, exp.Func) and time.name.upper() == _CLOCK[0]


def bind_lookup(source: QueryText, join: exp.Join, left: Relation, right: Relation) -> Relation:
    """The relation of `left JOIN right FOR SYSTEM_TIME AS OF PROCTIME()`.

    Raises:
        QueryError: no equality is with the key of the right.
        NotSupported: another kind of join, rows that are taken back, or a table that cannot be asked.
    """
    consume(source, join, "this", "kind", "side", "on")
    kind = _KINDS.get((join.side.upper(), join.kind.upper()))
    if kind is None:
        words = f"{join.side} {join.kind}".strip().upper()
        raise source.error(
            f"a {words} JOIN by the clock is not supported", _place(join), "write JOIN or LEFT JOIN", NotSupported
        )
    right = apart(right, left.node.schema.names)
    scan = _scan_of(source, join, right)
    if left.node.retracts:
        why = "a row that is taken back would be asked for again, and may be answered otherwise than when it came"
        raise source.error(
            f"a join by the clock of rows that change is not supported: {why}",
            _place(join),
            "join before they are aggregated",
            NotSupported,
        )
    every = Relation(Join(left.node, right.node, JoinKind.INNER, ()), (*left.columns, *right.columns))
    on = join.args.get("on")
    parts = conjuncts(Binder(source, every).condition(on, "ON")) if on is not None else ()
    node = _make_join(left.node, right.node, kind, parts, scan)
    if node is None:
        key = scan.traits.asked.key if scan.traits.asked else ""
        advice = (
            f"write ON a.key = {scan.table}.{key}, of the type of {key}"
            if key
            else "declare its PRIMARY KEY, one column"
        )
        raise source.error(f"{scan.table} is asked by its key, and ON compares none", _place(join), advice)
    return of_join(replace(node, written=NodeLocation(place(join)[0])), Relation(node, every.columns, undated=UNDATED))


def _scan_of(source: QueryText, join: exp.Join, right: Relation) -> Scan:
    nodes = list(walk(right.node))
    scans = scans_in(nodes)
    if len(scans) == 1 and scans[0].traits.asked and all(node.is_rowwise or node is scans[0] for node in nodes):
        return scans[0]
    name = right.columns[0].table if right.columns else "this table"
    problem = f"a join by the clock with {name} is not supported: it is no table that can be asked by key"
    advice = f"join a table that stands still with /*+ BROADCAST({name}) */, versions by event time with FOR SYSTEM_TIME AS OF a.ts"
    raise source.error(problem, place(join.this.args["version"]), advice, NotSupported)


def _make_join(left: Node, right: Node, kind: JoinKind, parts: tuple[Expression, ...], scan: Scan) -> SideJoin | None:
    """The join by the table's key, all else that ON says being its condition; None if it does not compare the key."""
    one, other, pairs, rest = extract_keys(left, right, parts)
    found = [pair for pair in pairs if scan.traits.asked and _in_scan(other, pair[1]) == scan.traits.asked.key]
    if not found:
        return None
    equal: list[Expression] = [_equality(one, other, pair) for pair in pairs if pair not in found]
    condition = conjunction([*equal, *rest]) if equal or rest else None
    return SideJoin(one, other, kind, (found[0],), condition, asked=True)


def _place(join: exp.Join) -> Span:
    """The place in the text of what says which rows are joined."""
    return place(join.args.get("on") or join.this)


def _equality(left: Node, right: Node, pair: tuple[str, str]) -> Call:
    columns = [Column(node.schema[name].type, name) for node, name in zip((left, right), pair, strict=True)]
    made = resolve_call("eq", columns)
    assert isinstance(made, Call)
    return made


def _in_scan(node: Node, name: str) -> str:
    """What the column is called in the table; empty if it is computed."""
    while name in node.origins:
        number, name = node.origins[name]
        node = node.inputs[number]
    return name if isinstance(node, Scan) and name in node.schema.names else ""
