"""Random expressions of all operators of the language with few parentheses, so that precedence decides what they mean."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sqlglot import exp

_INFIX = (
    *("OR", "AND", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "LIKE", "NOT LIKE"),
    *("ILIKE", "+", "-", "*", "/", "%", "||", "&", "|"),
)
_PREFIX = ("NOT ", "- ", "~ ")
_POSTFIX = (
    *(f" IS {negated}{what}" for negated in ("", "NOT ") for what in ("NULL", "TRUE", "FALSE", "UNKNOWN")),
    *("::INT", "::BIGINT", "[1]"),
)
_LEAVES = (*"abcde", "a.f", "1", "2.5", "'x'", "TRUE", "NULL")


class Operators:
    """A source of expressions, which need not have a type."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice

    def expression(self, size: int) -> str:
        """An expression of so many operators; one operand in five stands in parentheses."""
        if size == 0:
            return self.dice.choice(_LEAVES)
        text = self.dice.choices((self._infix, self._prefix, self._postfix, self._words), (6, 2, 3, 2))[0](size - 1)
        return f"({text})" if self.dice.random() < 0.2 else text

    def _infix(self, size: int) -> str:
        left = self.dice.randint(0, size)
        return f"{self.expression(left)} {self.dice.choice(_INFIX)} {self.expression(size - left)}"

    def _prefix(self, size: int) -> str:
        return self.dice.choice(_PREFIX) + self.expression(size)

    def _postfix(self, size: int) -> str:
        text = self.expression(size)
        return text + self.dice.choice(
            _POSTFIX if not text.endswith("INT") else _POSTFIX[:-1]
        )  # DuckDB has a type INT[1]

    def _words(self, size: int) -> str:
        at = sorted(self.dice.randint(0, size) for _ in range(2))
        one, two, three = (self.expression(part) for part in (at[0], at[1] - at[0], size - at[1]))
        negated = self.dice.choice(("", "NOT "))
        forms = (
            f"{one} {negated}BETWEEN {two} AND {three}",
            f"{one} {negated}IN ({two}, {three})",
            f"CASE WHEN {one} THEN {two} ELSE {three} END",
            f"CASE {one} WHEN {two} THEN {three} END",
            f"COALESCE({one}, {two}, {three})",
        )
        return self.dice.choice(forms)


def in_parentheses(node: exp.Expr) -> str:
    """The tree as text in which nothing depends on precedence."""
    make = _SPELLED.get(type(node))
    if make is not None:
        return make(node)
    assert isinstance(node, exp.Binary), f"{type(node).__name__} has no spelling here"
    if isinstance(node, exp.And | exp.Or):  # Spark keeps long chains of these in trees that are not deep
        chain = in_parentheses(node.this)
        chain = chain[1:-1] if type(node.this) is type(node) else chain
        return f"({chain} {_SIGNS[type(node)]} {in_parentheses(node.expression)})"
    return f"({in_parentheses(node.this)} {_SIGNS[type(node)]} {in_parentheses(node.expression)})"


def _like(node: exp.Expr) -> str:
    word = "ILIKE" if isinstance(node, exp.ILike) else "LIKE"
    negated = "NOT " if node.args.get("negate") else ""
    return f"({in_parentheses(node.this)} {negated}{word} {in_parentheses(node.expression)})"


def _case(node: exp.Expr) -> str:
    subject = f" {in_parentheses(node.this)}" if node.this else ""
    whens = "".join(
        f" WHEN {in_parentheses(when.this)} THEN {in_parentheses(when.args['true'])}" for when in node.args["ifs"]
    )
    default = node.args.get("default")
    return f"CASE{subject}{whens}{f' ELSE {in_parentheses(default)}' if default else ''} END"


def _listed(nodes: list[exp.Expr]) -> str:
    return ", ".join(map(in_parentheses, nodes))


def _between(node: exp.Expr) -> str:
    this, low, high = (in_parentheses(node.args[key]) for key in ("this", "low", "high"))
    return f"({this} BETWEEN {low} AND {high})"


def _is(node: exp.Expr) -> str:
    word = node.expression.sql().strip('"').upper()
    if word not in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
        raise ValueError(f"IS {word} is refused when it is bound")
    return f"({in_parentheses(node.this)} IS {word})"


_SIGNS = {
    exp.Or: "OR", exp.And: "AND", exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.Add: "+",
    exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.BitwiseAnd: "&", exp.BitwiseOr: "|",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM",
}  # fmt: skip
_SPELLED: dict[type[exp.Expr], Callable[[exp.Expr], str]] = {
    exp.Paren: lambda node: in_parentheses(node.this),
    exp.Not: lambda node: f"(NOT {in_parentheses(node.this)})",
    exp.Neg: lambda node: f"(- {in_parentheses(node.this)})",
    exp.BitwiseNot: lambda node: f"(~ {in_parentheses(node.this)})",
    exp.Literal: lambda node: node.sql(),
    exp.Boolean: lambda node: node.sql(),
    exp.Null: lambda node: "NULL",
    exp.Column: lambda node: ".".join(part.name for part in node.parts),
    exp.Cast: lambda node: f"({in_parentheses(node.this)})::{node.args['to'].sql()}",
    exp.Bracket: lambda node: f"({in_parentheses(node.this)})[1]",
    exp.In: lambda node: f"({in_parentheses(node.this)} IN ({_listed(node.expressions)}))",
    exp.Anonymous: lambda node: f"COALESCE({_listed(node.expressions)})",
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Case: _case,
}
