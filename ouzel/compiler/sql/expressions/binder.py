"""The expression binder: resolves names and types every expression against the one registry of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from ouzel.compiler.coercion import can_cast, cast_to, common_type
from ouzel.compiler.expressions import Case, Cast, Column, Expression, GetField, Literal, join_balanced
from ouzel.compiler.functions.foreign_patterns import doubt_pattern
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.sql.expressions import literals, predicates
from ouzel.compiler.sql.expressions.advice import as_text, of_arguments, of_cast, of_field, of_operator
from ouzel.compiler.sql.expressions.clocks import clock_error
from ouzel.compiler.sql.expressions.constants import (
    note_compared,
    note_equal,
    note_of_case,
    note_pattern_text,
    note_quotient,
)
from ouzel.compiler.sql.expressions.cuts import cut
from ouzel.compiler.sql.expressions.foreign_calls import of_call, of_safe_call, of_units
from ouzel.compiler.sql.expressions.indexes import check_index, refuse_letters
from ouzel.compiler.sql.expressions.joined_texts import of_chain
from ouzel.compiler.sql.expressions.local_days import note_instant, note_local_day
from ouzel.compiler.sql.expressions.spans_of_time import (
    bind_extract,
    number_of,
    of_date_part,
    of_function,
    of_span,
    round_time,
)
from ouzel.compiler.sql.expressions.suspicions import (
    note_choice,
    note_covered,
    note_exchanged,
    note_itself,
    note_template,
)
from ouzel.compiler.sql.expressions.unreadable import note_unreadable
from ouzel.compiler.sql.queries.scope import Relation, find_column, name_of, near, pick
from ouzel.compiler.sql.syntax.chains import called_in, identifiers_of, operands_of, root_of
from ouzel.compiler.sql.syntax.dialect import LITERAL, spelled_type
from ouzel.compiler.sql.syntax.places import call_name, consume, describe, instead_of, looked_into, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.compiler.types import (
    BOOLEAN,
    BYTES,
    DATE,
    NULL,
    TIMESTAMP_LTZ,
    VARCHAR,
    ArrayType,
    DataType,
    IntegerType,
    NullType,
    RowType,
)
from ouzel.errors import NotSupported, QueryError, TypeMismatch

_BINARY: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Add: ("add", "+"), exp.Sub: ("subtract", "-"), exp.Mul: ("multiply", "*"), exp.Div: ("divide", "/"), exp.IntDiv: ("div", "DIV"),
    exp.Mod: ("modulo", "%"), exp.EQ: ("eq", "="), exp.NEQ: ("ne", "<>"), exp.LT: ("lt", "<"), exp.LTE: ("le", "<="),
    exp.GT: ("gt", ">"), exp.GTE: ("ge", ">="), exp.And: ("and", "AND"), exp.Or: ("or", "OR"), exp.DPipe: ("concat", "||"),
    exp.BitwiseAnd: ("bitand", "&"), exp.BitwiseOr: ("bitor", "|"), exp.BitwiseXor: ("bitxor", "^"),
    exp.NullSafeEQ: ("is_not_distinct_from", "IS NOT DISTINCT FROM"), exp.NullSafeNEQ: ("is_distinct_from", "IS DISTINCT FROM"),
}  # fmt: skip
_ASSOCIATIVE = (exp.And, exp.Or, exp.DPipe)
_CLOCK_LIST = (
    "now current_timestamp current_date current_time current_datetime localtime localtimestamp proctime current_row_timestamp getdate "
    "unix_timestamp current_watermark sysdate sysdatetime getutcdate utc_timestamp curdate curtime today clock_timestamp"
)
_CLOCK = frozenset(_CLOCK_LIST.split())
WINDOW_PARTS = frozenset(
    f"{kind}_{part}" for kind in ("tumble", "hop", "session") for part in ("start", "end", "rowtime", "proctime")
)
_SHAPES = {
    "cast": ((2,), "CAST(value AS INT)"), "try_cast": ((2,), "TRY_CAST(value AS INT)"), "extract": ((2,), "EXTRACT(HOUR FROM time)"),
    "trim from": ((2, 3), "TRIM(LEADING '0' FROM text)"), "floor to": ((2,), "FLOOR(time TO DAY)"), "ceil to": ((2,), "CEIL(time TO DAY)"),
}  # fmt: skip
"""Calls with a syntax of their own: how many arguments they have, and an example."""
_TRIMS = {"both": "trim", "leading": "ltrim", "trailing": "rtrim"}


_Made = TypeVar("_Made")


class Binder:
    """Binds expressions over one relation. Subclasses decide what an aggregate means where they stand."""

    no_aggregates = "an aggregate cannot stand here"
    over_calls: Callable[[exp.Expr], Expression] | None = None

    def __init__(self, source: QueryText, relation: Relation) -> None:
        self.source, self.relation = source, relation
        self.written: list[tuple[Column, exp.Expr]] = []

    def bind(self, node: exp.Expr) -> Expression:
        """The typed expression of a tree.

        Raises:
            QueryError: unknown names, or types that do not fit; at the place of the smallest part that is wrong.
        """
        if type(node) in _BINARY:
            return self._mark(self.operator(node), node)
        handler = _HANDLERS.get(type(node))
        if handler is None:
            if column := looked_into(node):
                self.bind(column)  # one that is not there is told first
            advice = self._membership(node) or instead_of(node)
            raise self.source.error(f"{describe(node)} is not supported", place(node), advice, NotSupported)
        return self._mark(handler(self, node), node)

    def _membership(self, node: exp.Expr) -> str:
        """Advice for `value = ANY (array)`, and for `value = ('a', 'b')`; empty for all else."""
        if isinstance(node, exp.Tuple) and isinstance(node.parent, exp.EQ | exp.NEQ) and node.parent.expression is node:
            value, sign = self._text(node.parent.this), "NOT IN" if isinstance(node.parent, exp.NEQ) else "IN"
            return f"write {value} {sign} ({', '.join(map(self._text, node.expressions))})"
        if not isinstance(node, exp.Any) or not isinstance(node.parent, exp.EQ):
            return ""
        return f"write ARRAY_CONTAINS({self._text(node.this).strip('()')}, {self._text(node.parent.this)})"

    def _mark(self, bound: Expression, node: exp.Expr) -> Expression:
        """What is computed remembers where it was written, for rows that it fails on."""
        if isinstance(bound, Column | Literal) or bound.written is not None:
            return bound
        return replace(bound, written=self.source.locate(place(node)))

    def operator(self, node: exp.Expr) -> Expression:
        """A binary operator."""
        consume(self.source, node, "this", "expression", "typed", "safe")  # the last two are a dialect's habits
        if isinstance(node.this, exp.Tuple) and type(node) in predicates.OF_TUPLES:
            return predicates.bind_tuples(self, node)
        if type(node) in _ASSOCIATIVE and type(node.this) is type(node):
            operands = [(part, self.bind(part)) for part in operands_of(node)]
            self._note_choice(node, operands)
            return join_balanced(operands, lambda left, right: (right[0], self._bind_operator(node, left, right)))[1]
        both = (node.this, self.bind(node.this)), (node.expression, self.bind(node.expression))
        self._note_choice(node, both)
        return self._bind_operator(node, *both)

    def _note_choice(self, node: exp.Expr, operands: Sequence[tuple[exp.Expr, Expression]]) -> None:
        if isinstance(node, exp.Or):
            note_choice(self.source, operands)

    def _bind_operator(
        self, node: exp.Expr, left: tuple[exp.Expr, Expression], right: tuple[exp.Expr, Expression]
    ) -> Expression:
        """Two operands of an operator, each with what is bound of it."""
        function, sign = _BINARY[type(node)]
        self._note_null(sign, left[0], right[0])
        note_itself(self.source, sign, (left[0], right[0]), (left[1], right[1]))
        note_compared(self.source, self.relation, sign, left, right)
        note_quotient(self.source, sign, left, right)
        whole = sign == "/" and all(isinstance(value.type, IntegerType) for _, value in (left, right))
        of_two = all(self._is_aggregate(part) for part, _ in (left, right))
        if whole and (of_two or predicates.is_rate(node, right[1]) or predicates.is_part_of_total(node)):
            predicates.note_share(self.source, left[0], right[0])
        try:
            return self._locate(node, lambda: resolve_call(function, [left[1], right[1]]))
        except TypeMismatch as error:
            problem = f"{left[1].type} {sign} {right[1].type} is not possible"
            number = number_of(self.source, *left) if sign == "/" else ""
            advice = f"write {number} {sign} {self._text(right[0])}" if number else ""
            advice = advice or of_operator(sign, (self._text(left[0]), left[1]), (self._text(right[0]), right[1]))
            advice = of_chain(self, node, advice)
            span = (place(left[0])[0], place(right[0])[1])
            raise self.source.error(problem, span, advice or error.instead) from None

    def _is_aggregate(self, node: exp.Expr) -> bool:
        called = called_in(node.this if isinstance(node, exp.Filter) else node)
        return isinstance(called, exp.Anonymous) and self.source.functions.aggregate(call_name(called)) is not None

    def _note_null(self, sign: str, left: exp.Expr, right: exp.Expr) -> None:
        """Tell of a comparison with NULL as it is written: it is allowed, and true of no row."""
        advice = {"=": "write {} IS NULL", "<>": "write {} IS NOT NULL"}.get(sign)
        if advice and isinstance(right, exp.Null) and not isinstance(left, exp.Null):
            problem = f"{self._text(left)} {sign} NULL is true of no row"
            self.source.note(problem, (place(left)[0], place(right)[1]), advice.format(self._text(left)))

    def _text(self, node: exp.Expr) -> str:
        start, end = place(node)
        return self.source.text[start:end]

    def condition(self, node: exp.Expr, clause: str) -> Expression:
        """A BOOLEAN expression, for WHERE and its like."""
        bound = self.bind(node)
        if isinstance(bound.type, NullType):
            return cast_to(bound, BOOLEAN)
        if bound.type != BOOLEAN:
            raise self.source.error(
                f"{clause} needs a BOOLEAN, this is {bound.type}", place(node), "write a comparison"
            )
        return bound

    def resolve(self, node: exp.Expr, function: str, arguments: Sequence[Expression], advice: str = "") -> Expression:
        """A call of a registered function, its errors placed at `node`, with an advice that is better than theirs."""
        try:
            return resolve_call(function, arguments, self.source.functions.own_scalar(function))
        except QueryError as error:
            parts = [node.this, node.args["zone"]] if isinstance(node, exp.AtTimeZone) else node.expressions
            about, at = error.about or ("", "")
            start, end = place(parts[int(at)] if about == "argument" and int(at) < len(parts) else node)
            error.instead = advice or error.instead
            raise error.located(self.source.text, start, end - start) from None

    def literal(self, node: exp.Expr) -> Expression:
        """A string or a number."""
        consume(self.source, node, "this", "is_string")
        if node.args["is_string"]:
            note_template(self.source, node)
            return Literal(VARCHAR, node.name)
        return self._locate(node, lambda: literals.number(node.name))

    def negate(self, node: exp.Expr) -> Expression:
        """Minus; of a number it is part of the literal, so that -2147483648 is an INT."""
        if isinstance(node.this, exp.Literal) and not node.this.args["is_string"]:
            return self._locate(node, lambda: literals.number("-" + node.this.name))
        return self.resolve(node, "negate", [self.bind(node.this)])

    def negation(self, node: exp.Expr) -> Expression:
        """NOT of a condition; of a text or a number a comparison is missing."""
        value = self.bind(node.this)
        return self.resolve(node, "not", [value], "" if value.type in (BOOLEAN, NULL) else "write a comparison")

    def column(self, node: exp.Expr) -> Expression:
        """`a`, `t.a`, `a.field`, `t.a.field.field`."""
        parts = [name_of(self.source, part) for part in identifiers_of(node)]
        if (
            len(parts) == 1
            and parts[0].text.lower() in _CLOCK
            and not pick(parts[0], (c.name for c in self.relation.columns))
        ):
            raise clock_error(self.source, node, parts[0].text)
        visible, used = find_column(self.source, self.relation, parts)
        column = self.relation.column(visible)
        self.written.append((column, node))
        bound: Expression = column
        for part in parts[used:]:
            bound = self._field(bound, part)
        return bound

    def dot(self, node: exp.Expr) -> Expression:
        """A field of what is not a plain name: `rows[1].a`."""
        if isinstance(root_of(node), exp.Column):
            return self.column(node)
        if not isinstance(node.expression, exp.Identifier):
            advice = of_safe_call(node, lambda part: self.source.text[slice(*place(part))]) or instead_of(
                node.expression
            )
            raise self.source.error(f"{describe(node.expression)} cannot follow a dot", place(node.expression), advice)
        return self._field(self.bind(node.this), name_of(self.source, node.expression))

    def _field(self, operand: Expression, name: Name) -> Expression:
        if not isinstance(operand.type, RowType):
            raise self.source.error(
                f"{operand} is {operand.type} and has no field {name.text}", name.span, of_field(operand, name.text)
            )
        fields = [field for field, _ in operand.type.fields]
        found = pick(name, fields)
        if len(found) != 1:
            problem = "is ambiguous" if found else "does not exist"
            raise self.source.error(f"the field {name.text} of {operand} {problem}", name.span, near(name.text, fields))
        field, kind = operand.type.fields[found[0]]
        return GetField(kind, operand, field)

    def case(self, node: exp.Expr) -> Expression:
        """Both forms of CASE, all values brought to one type."""
        consume(self.source, node, "this", "ifs", "default")
        subject, default = node.this, node.args.get("default")
        whens, values = [], []
        for branch in node.args["ifs"]:
            whens.append(self._when(subject, branch.this))
            values.append((branch.args["true"], self.bind(branch.args["true"])))
        note_covered(self.source, node.args["ifs"], whens)
        otherwise = self.bind(default) if default else Literal(NULL, None)
        kind = self._common([*values, (default or node, otherwise)])
        branches = tuple((when, cast_to(value, kind)) for when, (_, value) in zip(whens, values, strict=True))
        return Case(kind, branches, cast_to(otherwise, kind))

    def _when(self, subject: exp.Expr | None, when: exp.Expr) -> Expression:
        if subject is None:
            return self.condition(when, "WHEN")
        note_of_case(self.source, subject, when)
        values = self.bind(subject), self.bind(when)
        note_equal(self.source, (subject, values[0]), [(when, values[1])])
        return self.resolve(when, "eq", values)

    def _common(self, values: list[tuple[exp.Expr, Expression]]) -> DataType:
        kind = values[0][1].type
        for node, value in values[1:]:
            wider = common_type(kind, value.type)
            if wider is None:
                raise self.source.error(
                    f"the branches of CASE are of different types: {kind} and {value.type}",
                    place(node),
                    as_text(node.sql()) if kind == VARCHAR and isinstance(node, exp.Literal) else "CAST one of them",
                )
            kind = wider
        return kind

    def cast(self, node: exp.Expr, operand: exp.Expr, kind: DataType, safe: bool = False) -> Expression:
        """CAST or TRY_CAST to a type already read."""
        bound = self.bind(operand)
        note_local_day(self.source, self.relation.node, node, "cast" if kind == DATE else "", [operand], [bound])
        note_instant(self.source, self.relation.node, node, operand, bound if kind == TIMESTAMP_LTZ else None)
        if not can_cast(bound.type, kind):
            advice = of_span(self.source, operand, bound) or of_cast(self._text(operand), bound.type, kind)
            raise self.source.error(f"{bound.type} cannot be cast to {kind}", place(node), advice)
        if not safe:
            note_unreadable(self.source, place(node), self._text(operand), bound, kind)
        return cut(self.source, place(node), Cast(kind, bound, safe) if bound.type != kind else bound, kind)

    def postfix_cast(self, node: exp.Expr) -> Expression:
        """`a::INT`."""
        return self.cast(node, node.this, spelled_type(node.args["to"]))

    def element(self, node: exp.Expr) -> Expression:
        """`array[1]`, `map['key']`."""
        consume(self.source, node, "this", "expressions", "offset", "safe", "returns_list_for_maps")
        if len(node.expressions) != 1:
            raise self.source.error("one index belongs between the brackets", place(node))
        whole = self.bind(node.this)
        if whole.type == VARCHAR:
            refuse_letters(self.source, node)
        index = self.bind(node.expressions[0])
        check_index(self.source, node, whole, index)
        return self.resolve(node, "item" if isinstance(whole.type, ArrayType) else "element_at", [whole, index])

    def bind_filter(self, node: exp.Expr) -> Expression:
        """FILTER (WHERE ...), which only an aggregate takes."""
        called = called_in(node.this)
        if isinstance(called, exp.Anonymous) and self.source.functions.aggregate(call_name(called)):
            return self.aggregate(node.this, node.expression.this)
        raise self.source.error("FILTER belongs to an aggregate", place(node.this), "write CASE WHEN")

    def bind_ordered(self, node: exp.Expr) -> Expression:
        """WITHIN GROUP (ORDER BY ...), IGNORE NULLS and RESPECT NULLS, which only an aggregate takes."""
        called = called_in(node)
        if isinstance(called, exp.Anonymous) and self.source.functions.aggregate(call_name(called)):
            return self.aggregate(node, None)
        words = "WITHIN GROUP" if isinstance(node, exp.WithinGroup) else describe(node)
        raise self.source.error(f"{words} belongs to an aggregate", place(called), kind=NotSupported)

    def call(self, node: exp.Expr) -> Expression:
        """A call by name: a cast, a typed literal, an aggregate, or a function of the registry."""
        name = call_name(node)
        if name.startswith(LITERAL):
            return self._bind_typed_literal(node, name.removeprefix(LITERAL))
        if name in _SHAPES and len(node.expressions) not in _SHAPES[name][0]:
            raise self.source.error(
                f"{name.split()[0].upper()} is not complete", place(node), f"write {_SHAPES[name][1]}"
            )
        if name in ("cast", "try_cast"):
            value, kind = node.expressions
            return self.cast(node, value, spelled_type(kind), safe=name == "try_cast")
        if name == "date" and len(node.expressions) == 1 and self.source.functions.scalar(name) is None:
            return self.cast(node, node.expressions[0], DATE)
        if self.source.functions.aggregate(name):
            return self.aggregate(node, None)
        if name in WINDOW_PARTS:
            return self.window_part(node, name)
        if name in ("grouping", "grouping_id"):
            return self.grouping(node)
        self._refuse_clock(node, name)
        return self._function(node, name)

    def aggregate(self, node: exp.Expr, condition: exp.Expr | None) -> Expression:
        """An aggregate call; without grouping there is none."""
        called = called_in(node)
        raise self.source.error(f"{call_name(called).upper()} is an aggregate: {self.no_aggregates}", place(called))

    def over(self, node: exp.Expr) -> Expression:
        """A call with OVER, which only a select list and QUALIFY take."""
        if self.over_calls is None:
            raise self.source.error("OVER cannot stand here", place(node.this), "compute it in a subquery")
        return self.over_calls(node)

    def grouping(self, node: exp.Expr) -> Expression:
        """GROUPING, which needs several sets in GROUP BY."""
        advice = "write GROUP BY GROUPING SETS (...), CUBE (...) or ROLLUP (...)"
        raise self.source.error(f"{call_name(node).upper()} has no grouping sets here", place(node), advice)

    def window_part(self, node: exp.Expr, name: str) -> Expression:
        """TUMBLE_START and its like, which need a window in GROUP BY."""
        window = name.split("_")[0].upper()
        raise self.source.error(
            f"{name.upper()} has no window here",
            place(node),
            f"write GROUP BY {window}(time, INTERVAL '5' SECOND) in this query",
        )

    def _function(self, node: exp.Expr, name: str) -> Expression:
        written = [self._text(part) for part in node.expressions]
        problem, advice = of_units(name, written)
        if problem:
            raise self.source.error(problem, place(node), advice)
        advice = of_call(name, written)
        if self.source.functions.scalar(name) is None and name not in _SHAPES:
            for part in node.find_all(exp.Anonymous):  # more is wrong with a clock than with the call around it
                self._refuse_clock(part, call_name(part))
            advice = of_date_part(self, node, name) or advice
            self.resolve(node, name, [], advice)  # what does not exist is said before what is wrong inside it
        if name in ("date_format", "to_date", "to_timestamp"):
            self._note_pattern(node, name != "date_format")
        arguments = [self.bind(self._argument(part)) for part in node.expressions]
        note_local_day(self.source, self.relation.node, node, name, node.expressions, arguments)
        note_exchanged(self.source, node, name, written, arguments)
        note_pattern_text(self.source, node, name, arguments)
        if name == "extract":
            return bind_extract(self, node, arguments[-1])
        if name.endswith(" to"):
            return round_time(self, node, name, *arguments)
        if name == "trim from":
            side = node.expressions[0].name.lower()
            return self.resolve(node, _TRIMS[side], arguments[:0:-1])
        advice = (
            of_function(self.source, name, node.expressions, arguments)
            or of_arguments(name, written, arguments)
            or advice
        )
        return self.resolve(node, name, arguments, advice)

    def _note_pattern(self, node: exp.Expr, read: bool) -> None:
        """Tell of a date pattern that is allowed and hardly meant."""
        for part in node.expressions[1:2]:
            problem, advice = doubt_pattern(part.name, read) if part.is_string else ("", "")
            if problem:
                self.source.note(problem, place(part), advice)

    def _argument(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Star):
            raise self.source.error("* can only be counted", place(node), "write COUNT(*)")
        if isinstance(node, exp.Distinct):
            raise self.source.error("DISTINCT belongs to an aggregate", place(node), "remove it")
        return node

    def _refuse_clock(self, node: exp.Expr, name: str) -> None:
        if (
            name in _CLOCK
            and self.source.functions.own_scalar(name) is None
            and not (name == "unix_timestamp" and node.expressions)
        ):
            raise clock_error(self.source, node, name)

    def _bind_typed_literal(self, node: exp.Expr, kind: str) -> Expression:
        texts = [argument.name for argument in node.expressions]
        if kind == "interval":
            return self._locate(node, lambda: literals.interval(texts[0], tuple(texts[1:])))
        return self._locate(node, lambda: literals.parse_typed_literal(kind, texts[0], self.source.zone))

    def _locate(self, node: exp.Expr, make: Callable[[], _Made]) -> _Made:
        try:
            return make()
        except QueryError as error:
            start, end = place(node)
            error.at = -1 if error.text != self.source.text else error.at
            raise error.located(self.source.text, start, end - start) from None


def _constant(kind: DataType, value: Callable[[exp.Expr], object]) -> Callable[[Binder, exp.Expr], Expression]:
    return lambda _, node: Literal(kind, value(node))


_HANDLERS: dict[type[exp.Expr], Callable[[Binder, exp.Expr], Expression]] = {
    exp.Literal: Binder.literal,
    exp.HexString: _constant(BYTES, lambda node: bytes.fromhex(node.name)),
    exp.Boolean: _constant(BOOLEAN, lambda node: bool(node.this)),
    exp.Null: _constant(NULL, lambda _: None),
    exp.Paren: lambda binder, node: binder.bind(node.this),
    exp.Not: Binder.negation,
    exp.Neg: Binder.negate,
    exp.BitwiseNot: lambda binder, node: binder.resolve(node, "bitnot", [binder.bind(node.this)]),
    exp.Column: lambda binder, node: binder.column(node),
    exp.Dot: Binder.dot,
    exp.Is: predicates.bind_is,
    exp.Between: predicates.bind_between,
    exp.In: predicates.bind_in,
    exp.Like: predicates.bind_like,
    exp.ILike: predicates.bind_like,
    exp.SimilarTo: predicates.bind_like,
    exp.Escape: predicates.bind_escape,
    exp.RegexpLike: predicates.bind_rlike,
    exp.AtTimeZone: lambda binder, node: binder.resolve(node, "at_time_zone", [binder.bind(node.this), binder.bind(node.args["zone"])]),
    exp.Case: Binder.case,
    exp.Cast: Binder.postfix_cast,
    exp.Bracket: Binder.element,
    exp.Filter: Binder.bind_filter,
    exp.WithinGroup: Binder.bind_ordered,
    exp.IgnoreNulls: Binder.bind_ordered,
    exp.RespectNulls: Binder.bind_ordered,
    exp.Anonymous: Binder.call,
    exp.Window: Binder.over,
}  # fmt: skip
