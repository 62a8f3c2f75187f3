"""JOIN: two relations, and the split of its condition into equalities of keys and the rest."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from sqlglot import exp

from ouzel.compiler.coercion import cast_to, common_type
from ouzel.compiler.expressions import Call, Column, Expression, columns, columns_of, conjunction, conjuncts
from ouzel.compiler.functions.guards import guard, may_fail
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import LEFT_ONLY, Join, JoinKind, Node, Project, SideJoin
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.expressions.constants import find_origin, is_moment
from ouzel.compiler.sql.queries.intervals import bound_by_time, is_bound, of_join
from ouzel.compiler.sql.queries.scope import Relation, Visible, fresh, name_of, near, pick
from ouzel.compiler.sql.queries.sides import SideHints
from ouzel.compiler.sql.queries.ttl import StateTtl
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.compiler.types import TimestampType
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported

_KINDS = {
    ("", ""): JoinKind.INNER, ("", "INNER"): JoinKind.INNER, ("", "CROSS"): JoinKind.INNER,
    ("LEFT", ""): JoinKind.LEFT, ("LEFT", "OUTER"): JoinKind.LEFT, ("RIGHT", ""): JoinKind.LEFT, ("RIGHT", "OUTER"): JoinKind.LEFT,
    ("FULL", ""): JoinKind.FULL, ("FULL", "OUTER"): JoinKind.FULL,
    ("", "SEMI"): JoinKind.SEMI, ("LEFT", "SEMI"): JoinKind.SEMI, ("", "ANTI"): JoinKind.ANTI, ("LEFT", "ANTI"): JoinKind.ANTI,
}  # fmt: skip

UNDATED = "rows of a join come at any time after {column}: take the window of a table first, and join the windows"


@dataclass(frozen=True)
class _Sides:
    """What is joined; `exchanged` if the left as written is the right input of the node, which a RIGHT JOIN makes it.

    `whole` if each task reads the right for itself.
    """

    left: Relation
    right: Relation
    exchanged: bool
    whole: bool = False

    @property
    def ordered(self) -> tuple[Relation, Relation]:
        """As written."""
        return (self.right, self.left) if self.exchanged else (self.left, self.right)


def bind_join(
    source: QueryText, join: exp.Join, left: Relation, right: Relation, ttl: StateTtl,
    hints: SideHints,
) -> Relation:  # fmt: skip
    """The relation of `left JOIN right`.

    Raises:
        QueryError: the condition is none, is missing, or a column of USING is not in both.
        NotSupported: a kind of join that is not there yet.
    """
    consume(source, join, "this", "kind", "side", "on", "using", "method")
    side, kind = join.side.upper(), join.kind.upper()
    natural = join.method.upper() == "NATURAL"
    if (join.method and not natural) or (side, kind) not in _KINDS:
        words = " ".join(filter(None, (join.method.upper(), side, kind, "JOIN")))
        raise source.error(f"{words} is not supported", place(join), _instead(join), NotSupported)
    made = _KINDS[side, kind]
    right = apart(right, left.node.schema.names)
    sides = _Sides(right, left, True) if side == "RIGHT" else _Sides(left, right, False)
    whole = hints.choose(sides.left, sides.right, made)
    if whole is not None:
        sides = _Sides(right, left, True, True) if whole is left else _Sides(left, right, False, True)
    using = [name_of(source, identifier) for identifier in join.args.get("using") or ()]
    on = join.args.get("on")
    if natural:
        using = _natural(source, join, sides)
    if not (on or using or kind == "CROSS"):
        raise source.error("this JOIN has no condition", place(join), "write ON a.key = b.key, or CROSS JOIN")
    written = NodeLocation(place(join)[0])
    kept = () if whole is not None else ttl.conditions(join, left, right)
    if using:
        return _using(source, sides, made, using, written, kept)
    both = _visible(sides, made)
    parts: tuple[Expression, ...] = ()
    if on is not None:
        every = Relation(_make_join(sides, JoinKind.INNER, ()), (*left.columns, *right.columns))
        parts = conjuncts(Binder(source, every).condition(on, "ON"))
    parts = () if on is not None and is_true(on) else parts
    node = _make_join(sides, made, (*parts, *kept), written)
    return of_join(node, Relation(node, both, undated=UNDATED))


def join_relations(
    left: Relation, right: Relation, kind: JoinKind, parts: Sequence[Expression], written: NodeLocation
) -> Relation:
    """The relation of a join that a subquery is; the names of the right are `apart` from the left's."""
    node = _make_join(_Sides(left, right, False), kind, parts, written)
    return of_join(node, Relation(node, left.columns, undated=UNDATED))


def with_filter(relation: Relation, predicate: Expression) -> tuple[Relation, Expression | None]:
    """The relation with those conjuncts of a filter above it that join its inputs, and what is left of the filter.

    So `FROM a, b WHERE a.k = b.k` is the join that it means.
    """
    kept: list[Expression] = []
    node = relation.node
    for part in conjuncts(predicate):
        lower = _with_conjunct(node, part)
        if lower is None:
            kept.append(part)
        else:
            node = lower
    joined = relation if node is relation.node else of_join(_all_bounded(node), relation)
    return joined, conjunction(kept) if kept else None


def _all_bounded(node: Node) -> Node:
    """The node with those of its joins that time bounds as such."""
    if not isinstance(node, Join):
        return node
    return bound_by_time(node.with_inputs((_all_bounded(node.left), _all_bounded(node.right))))  # type: ignore[arg-type]


def _with_conjunct(node: Node, part: Expression) -> Node | None:
    if not isinstance(node, Join) or node.kind is not JoinKind.INNER:
        return None
    read = columns_of(part)
    for number, below in enumerate(node.inputs):
        if read <= set(below.schema.names):
            moved = node.passes(part)
            lower = None if moved is None or moved[number] is None else _with_conjunct(below, part)
            return lower and node.with_inputs((lower, node.right) if number == 0 else (node.left, lower))
    if not node.takes_conditions:
        return None
    if is_bound(part, node):
        return replace(node, condition=part if node.condition is None else conjunction([node.condition, part]))
    left, right, keys, rest = extract_keys(node.left, node.right, (part,))
    if rest or any(set(pair) & {name for known in node.keys for name in known} for pair in keys):
        return None
    return replace(node, left=left, right=right, keys=(*node.keys, *keys))


def _instead(join: exp.Join) -> str:
    if join.side.upper() == "RIGHT":
        return f"write LEFT {join.kind.upper()} JOIN with the tables exchanged"
    return "write INNER, LEFT, RIGHT, FULL or CROSS JOIN"


def is_true(on: exp.Expr) -> bool:
    """Whether a condition is the word TRUE."""
    return isinstance(on, exp.Boolean) and bool(on.this)


def apart(relation: Relation, taken: Sequence[str]) -> Relation:
    """The relation with columns of the plan that have no name that is taken."""
    names: dict[str, str] = {}
    for name in relation.node.schema.names:
        others = set(relation.node.schema.names) - {name}
        names[name] = fresh(name, [*taken, *names.values(), *others], any_case=True)
    if all(old == new for old, new in names.items()):
        return relation
    items = tuple((names[column.name], column) for column in columns(relation.node.schema))
    shown = tuple(replace(column, column=names[column.column]) for column in relation.columns)
    window = None
    if relation.window is not None:
        start, end, time = (name and names[name] for name in relation.window)
        window = (start, end, time)
    return replace(relation, node=Project(relation.node, items), columns=shown, window=window)


def _visible(sides: _Sides, kind: JoinKind) -> tuple[Visible, ...]:
    first, second = sides.ordered
    return first.columns if kind in LEFT_ONLY else (*first.columns, *second.columns)


def _make_join(
    sides: _Sides, kind: JoinKind, parts: Sequence[Expression], written: NodeLocation = NodeLocation()
) -> Join:
    left, right, keys, rest = extract_keys(sides.left.node, sides.right.node, parts)
    condition = conjunction(rest) if rest else None
    if sides.whole:
        return SideJoin(left, right, kind, keys, condition, written=written)
    return bound_by_time(Join(left, right, kind, keys, condition, written=written))


def extract_keys(
    left: Node, right: Node, parts: Sequence[Expression]
) -> tuple[Node, Node, tuple[tuple[str, str], ...], list[Expression]]:
    """The inputs with a column for whatever an equality compares, those columns, and the conjuncts that are no such equality.

    What is a key already is compared a second time by a conjunct: no column is in two keys. A row for which a conjunct of its own table
    is not TRUE meets nothing, and so needs no key, which might fail.
    """
    names = (set(left.schema.names), set(right.schema.names))
    pairs: list[tuple[Expression, Expression]] = []
    rest: list[Expression] = []
    for part in parts:
        one, other = part.arguments if isinstance(part, Call) and _is_equality(part) else (part, part)
        read = (columns_of(one), columns_of(other))
        if all(read) and read[1] <= names[0] and read[0] <= names[1]:
            one, other, read = other, one, (read[1], read[0])
        if (one, other) in pairs:
            continue
        taken = any(one == left_key or other == right_key for left_key, right_key in pairs)
        if all(read) and read[0] <= names[0] and read[1] <= names[1] and not taken:
            pairs.append((one, other))
        else:
            rest.append(part)
    ours, theirs = (_guards(rest, own) for own in names)
    left, left_keys = _compute(left, [guard(one, ours) if ours else one for one, _ in pairs], right.schema.names)
    right, right_keys = _compute(
        right, [guard(other, theirs) if theirs else other for _, other in pairs], left.schema.names
    )
    return left, right, tuple(zip(left_keys, right_keys, strict=True)), rest


def _guards(parts: Sequence[Expression], names: Set[str]) -> Expression | None:
    """Those conjuncts that look at these columns alone and fail no row, which is not so of the keys that they guard."""
    found = [part for part in parts if columns_of(part) <= names and not may_fail(part)]
    return conjunction(found) if found else None


def _compute(node: Node, values: Sequence[Expression], taken: Sequence[str]) -> tuple[Node, list[str]]:
    """The node with a column for each value, and what these are called."""
    new: list[tuple[str, Expression]] = []
    names: list[str] = []
    for value in values:
        name = value.name if isinstance(value, Column) else fresh("$key", [*taken, *node.schema.names, *dict(new)])
        names.append(name)
        if not isinstance(value, Column):
            new.append((name, value))
    if not new:
        return node, names
    return Project(node, (*((column.name, column) for column in columns(node.schema)), *new)), names


def _is_equality(part: Expression) -> bool:
    return isinstance(part, Call) and part.function == "eq" and part.arguments[0].type == part.arguments[1].type


def _natural(source: QueryText, join: exp.Join, sides: _Sides) -> list[Name]:
    """The columns that both relations have, in the order of the first: NATURAL is USING of all of them.

    Raises:
        QueryError: there is none, and so each row would meet every other.
    """
    first, second = sides.ordered
    others = {column.name.lower() for column in second.columns if not column.hidden}
    names = [column.name for column in first.columns if not column.hidden and column.name.lower() in others]
    if not names:
        raise source.error(
            "these tables have no column in common", place(join), "write ON a.key = b.key, or CROSS JOIN"
        )
    _note_times(source, join, sides, names)
    return [Name(name, False, place(join)) for name in dict.fromkeys(names)]


def _note_times(source: QueryText, join: exp.Join, sides: _Sides, names: Sequence[str]) -> None:
    """Tell of NATURAL JOIN that compares times of two tables, too: two rows of one key hardly have the same."""
    times = [name for name in names if _are_times_of_two(sides.ordered, name)]
    keys = [name for name in names if name not in times]
    if times and keys:
        problem = f"NATURAL JOIN compares {', '.join(names)}, for both tables have them"
        table = source.text[slice(*place(join.this))]
        advice = f"write JOIN {table} USING ({', '.join(keys)}), or USING ({', '.join(names)}) if equal times are meant"
        source.note(problem, place(join), advice)


def _are_times_of_two(sides: tuple[Relation, Relation], name: str) -> bool:
    """Whether the columns of this name are times that two tables have, each its own."""
    found = [(side, next(one for one in side.columns if one.name.lower() == name.lower())) for side in sides]
    tables = {find_origin(side.node, one.column)[0] for side, one in found}
    timed = all(
        isinstance(side.column(one).type, TimestampType) and is_moment(side.node, one.column) for side, one in found
    )
    return timed and len(tables) == len(sides)


def _using(
    source: QueryText, sides: _Sides, kind: JoinKind, using: Sequence[Name], written: NodeLocation,
    kept: Sequence[Expression],
) -> Relation:  # fmt: skip
    """USING (a, b): these columns once, first, as standard SQL has it; under their tables' names they are still both there."""
    first, second = sides.ordered
    pairs = [(find_shared(source, name, first), find_shared(source, name, second)) for name in using]
    parts: list[Expression] = []
    for name, (one, other) in zip(using, pairs, strict=True):
        left, right = first.column(one), second.column(other)
        common = common_type(left.type, right.type)
        if common is None:
            raise source.error(
                f"USING ({name.text}) compares {left.type} and {right.type}", name.span, "write ON with a CAST"
            )
        parts.append(resolve_call("eq", [cast_to(left, common), cast_to(right, common)]))
    node: Node = _make_join(sides, kind, [*parts, *kept], written)
    if kind in LEFT_ONLY:
        return of_join(node, Relation(node, first.columns, undated=UNDATED))
    merged = [second.column(other) if sides.exchanged else first.column(one) for one, other in pairs]
    shown = [Visible("", one.name, column.name) for (one, _), column in zip(pairs, merged, strict=True)]
    if kind is JoinKind.FULL:
        items: list[tuple[str, Expression]] = [(column.name, column) for column in columns(node.schema)]
        for number, (one, other) in enumerate(pairs):
            new = fresh(one.name, dict(items))
            items.append((new, resolve_call("coalesce", [first.column(one), second.column(other)])))
            shown[number] = Visible("", one.name, new)
        node = Project(node, tuple(items))
    hidden = {id(column) for pair in pairs for column in pair}
    rest = [
        replace(column, hidden=column.hidden or id(column) in hidden) for column in (*first.columns, *second.columns)
    ]
    return of_join(node, Relation(node, (*shown, *rest), undated=UNDATED))


def find_shared(source: QueryText, name: Name, relation: Relation) -> Visible:
    """The column of USING in one of the joined relations.

    Raises:
        QueryError: there is none, or there are several.
    """
    shown = [column for column in relation.columns if not column.hidden]
    found = pick(name, (column.name for column in shown))
    if len(found) == 1:
        return shown[found[0]]
    table = relation.columns[0].table if relation.columns else ""
    if found:
        raise source.error(f"the column {name.text} of USING is ambiguous", name.span, "write ON")
    advice = near(name.text, (column.name for column in shown))
    raise source.error(f"there is no column {name.text}{f' in {table}' if table else ''} for USING", name.span, advice)
