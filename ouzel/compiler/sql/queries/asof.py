"""ASOF JOIN, as DuckDB and as Snowflake spell it, and FOR SYSTEM_TIME AS OF: a row and the version of its key at its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ouzel.compiler.expressions import Call, Column, Expression, conjuncts
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import AsofJoin, Join, JoinKind, Node
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.intervals import is_time
from ouzel.compiler.sql.queries.joins import apart, extract_keys, find_shared
from ouzel.compiler.sql.queries.scope import Relation, Visible, name_of, pick
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.types import VARCHAR, IntegerType, TimestampType
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError

_SIDES = {"": JoinKind.INNER, "LEFT": JoinKind.LEFT}
_SHAPE = "write a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts"
_FLIPPED = {"ge": "le", "gt": "lt", "le": "ge", "lt": "gt"}


def is_asof(join: exp.Join) -> bool:
    """Whether a JOIN asks for versions as of a time."""
    return join.method.upper() == "ASOF" or join.this.args.get("version") is not None


def bind_asof(source: QueryText, join: exp.Join, left: Relation, right: Relation) -> Relation:
    """The relation of `left ASOF JOIN right`, or of `left JOIN right FOR SYSTEM_TIME AS OF left.ts`.

    Raises:
        QueryError: there is no comparison of times, or another condition than equalities beside it.
        NotSupported: another kind of join, inputs that take rows back, or times that are no event time.
    """
    consume(source, join, "this", "kind", "side", "on", "using", "method", "match_condition")
    side, kind = join.side.upper(), join.kind.upper()
    if side not in _SIDES or kind not in ("", "INNER", "OUTER"):
        problem = f"a {' '.join(filter(None, (side, kind)))} JOIN as of a time is not supported"
        raise source.error(problem, _place(join), "write JOIN or LEFT JOIN", NotSupported)
    right = apart(right, left.node.schema.names)
    every = Relation(Join(left.node, right.node, JoinKind.INNER, ()), (*left.columns, *right.columns))
    binder = Binder(source, every)
    hidden: Sequence[tuple[Visible, Visible]] = ()
    if join.args.get("using"):
        hidden = _pairs(source, join, left, right)
        parts = [
            resolve_call("eq" if pair is not hidden[-1] else "ge", [left.column(pair[0]), right.column(pair[1])])
            for pair in hidden
        ]
    else:
        conditions = (join.args.get("match_condition"), join.args.get("on"))
        parts = [part for each in conditions if each is not None for part in conjuncts(binder.condition(each, "ON"))]
    version = join.this.args.get("version")
    if version is not None:
        if any(isinstance(part, Call) and part.function in _FLIPPED for part in parts):
            problem = "a join FOR SYSTEM_TIME AS OF takes equalities, and this condition is another"
            raise source.error(problem, _place(join), "write ON a.k = b.k, and the condition in WHERE")
        parts.append(_as_of(binder, version, left, right))
    made = JoinKind.LEFT if join.args.get("match_condition") is not None else _SIDES[side]
    node = _make_join(source, join, (left, right), made, parts)
    if not node.keys:
        _note_times_alone(source, join, left, right)
    shown = [Visible("", pair[0].name, pair[0].column) for pair in hidden]
    merged = {id(column) for pair in hidden for column in pair}
    rest = (replace(one, hidden=one.hidden or id(one) in merged) for one in (*left.columns, *right.columns))
    return Relation(node, (*shown, *rest), window=left.window)


def _note_times_alone(source: QueryText, join: exp.Join, left: Relation, right: Relation) -> None:
    """Tell of versions that are looked up by their time alone, where both tables have a key of the same name."""
    kinds = {column.name.lower(): left.column(column).type for column in left.columns}
    shared = [
        one
        for one in right.columns
        if (kind := right.column(one).type) == kinds.get(one.name.lower())
        and (isinstance(kind, IntegerType) or kind == VARCHAR)
        and one.name.lower() != "id"  # of the row itself, in each of them
    ]
    where = join.parent.args.get("where") if join.parent is not None else None
    asked = {column.name.lower() for column in where.find_all(exp.Column)} if where is not None else set()
    if not _gives_all(right.node) or asked & {one.name.lower() for one in shared}:
        return  # the rows of one key may have been chosen
    mates = [column for one in shared for column in left.columns if column.name.lower() == one.name.lower()]
    if shared:
        pairs = " AND ".join(
            f"{one.table}.{one.name} = {other.table}.{other.name}" for one, other in zip(mates, shared, strict=False)
        )
        names = ", ".join(column.name for column in shared)
        problem = f"only times are compared, so that each row meets the latest version, whatever its {names}"
        source.note(problem, _place(join), f"add {pairs} to the condition")


def _gives_all(node: Node) -> bool:
    """Whether a table has each of its rows here."""
    while node.inputs:
        if not (node.is_one_to_one or node.declares_time) or len(node.inputs) > 1:
            return False
        (node,) = node.inputs
    return True


def refuse_version(source: QueryText, table: exp.Expr) -> None:
    """Refuse FOR SYSTEM_TIME AS OF where nothing is joined.

    Raises:
        QueryError: it stands behind a table that is not joined to another.
    """
    version = table.args.get("version")
    if version is None:
        return
    if version.name.upper() == "VERSION" or (version.expression and not version.expression.find(exp.Column)):
        problem = "a table has no former versions to read"
        raise source.error(
            problem, place(table), "choose rows by their time: WHERE ts <= TIMESTAMP '2013-01-31 00:00:00'"
        )
    problem = "FOR SYSTEM_TIME AS OF belongs to a table that is joined to another"
    raise source.error(problem, place(table), "write a JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k")


def _as_of(binder: Binder, version: exp.Expr, left: Relation, right: Relation) -> Expression:
    """The comparison of times that FOR SYSTEM_TIME AS OF means."""
    if version.expression is None:
        raise binder.source.error("FOR SYSTEM_TIME lacks its time", place(version), "write FOR SYSTEM_TIME AS OF a.ts")
    _refuse_unknown(binder, version.expression, left)
    bound = binder.bind(version.expression)
    if isinstance(bound, Column) and bound.name in right.node.schema.names:
        own = next((column for column in left.columns if column.column == left.node.time_column), None)
        problem = f"{_show(bound, right)} is the time of the versions themselves"
        shown = f"{own.table}.{own.name}" if own is not None else "a.ts"
        raise binder.source.error(problem, place(version), f"write the time of the row: FOR SYSTEM_TIME AS OF {shown}")
    if not isinstance(bound.type, TimestampType):
        problem = f"{bound} is {bound.type}, and a table is joined as of a TIMESTAMP"
        time = left.node.time_column
        advice = (
            f"write the time of the row: FOR SYSTEM_TIME AS OF {time}" if time else "write a column that is a TIMESTAMP"
        )
        raise binder.source.error(problem, place(version), advice)
    time = right.node.time_column
    if time is None:
        problem = f"{right.columns[0].table or 'this table'} has no event time, so it has no versions"
        raise binder.source.error(problem, place(version), "give it a WATERMARK FOR its time")
    return resolve_call("ge", [bound, Column(right.node.schema[time].type, time)])


def _refuse_unknown(binder: Binder, written: exp.Expr, left: Relation) -> None:
    """A column that is not there was meant to be a time: the event time of the left side is likelier than a name that is like it."""
    own = next((column for column in left.columns if column.column == left.node.time_column), None)
    if own is None or not isinstance(written, exp.Column) or written.args.get("db"):
        return
    table, names = written.table.lower(), [column.name for column in left.columns]
    if table not in {"", *(column.table.lower() for column in left.columns)}:
        return
    if not pick(name_of(binder.source, written.this), names):
        problem = f"there is no column {written.name}" + (f" in {written.table}" if table else "")
        shown = f"{own.table}.{own.name}" if own.table else own.name
        raise binder.source.error(problem, place(written.this), f"write the time of the row: {shown}")


def _pairs(source: QueryText, join: exp.Join, left: Relation, right: Relation) -> list[tuple[Visible, Visible]]:
    names = [name_of(source, identifier) for identifier in join.args["using"]]
    return [(find_shared(source, name, left), find_shared(source, name, right)) for name in names]


def _make_join(
    source: QueryText, join: exp.Join, sides: tuple[Relation, Relation], kind: JoinKind, parts: Sequence[Expression]
) -> AsofJoin:
    ordered = [part for part in parts if isinstance(part, Call) and part.function in _FLIPPED]
    if len(ordered) != 1:
        problem = "a join as of a time compares two times" + (", once" if ordered else "")
        raise source.error(problem, _place(join), _SHAPE)
    sign, (one, other) = ordered[0].function, ordered[0].arguments
    if isinstance(one, Column) and one.name in sides[1].node.schema.names:
        sign, one, other = _FLIPPED[sign], other, one
    for value, side in zip((one, other), sides, strict=True):
        if not isinstance(value, Column) or not is_time(side.node, value.name):
            raise _make_untimed_error(source, join, value, side)
        if side.node.retracts:
            problem = f"a join as of a time of rows that change, as those of {_show(value, side)} do, is not supported"
            raise source.error(problem, _place(join), "join tables whose rows are only added", NotSupported)
    assert isinstance(one, Column)
    assert isinstance(other, Column)
    if sign in ("le", "lt"):
        problem = f"the next row, as {_show(other, sides[1])} after {_show(one, sides[0])}, is not supported"
        raise source.error(problem, _place(join), "ask for the latest: a.ts >= b.ts", NotSupported)
    left, right, keys, rest = extract_keys(
        sides[0].node, sides[1].node, [part for part in parts if part is not ordered[0]]
    )
    if rest:
        problem = "a join as of a time takes equalities beside the times, and this condition is another"
        raise source.error(problem, _place(join), "put it into a subquery, or into WHERE")
    return AsofJoin(
        left, right, kind, keys, times=(one.name, other.name), before=sign == "gt", written=NodeLocation(place(join)[0])
    )


def _make_untimed_error(source: QueryText, join: exp.Join, value: Expression, side: Relation) -> QueryError:
    actual = side.node.time_column
    shown = next((f"{column.table}.{column.name}" for column in side.columns if column.column == actual), actual)
    advice = f"compare {shown}" if shown else "give the table a WATERMARK FOR its time"
    return source.error(
        f"{_show(value, side)} is not event time, which says when all versions have come", _place(join), advice
    )


def _show(value: Expression, side: Relation) -> str:
    found = (
        f"{one.table}.{one.name}" for one in side.columns if isinstance(value, Column) and one.column == value.name
    )
    return next(found, value.written.part if value.written else str(value))


def _place(join: exp.Join) -> Span:
    """The place in the text of what says which rows are joined."""
    parts = (join.args.get("match_condition"), join.args.get("on"), join.this.args.get("version"), join.this)
    return place(next(part for part in parts if part is not None))
