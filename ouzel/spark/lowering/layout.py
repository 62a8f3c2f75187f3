"""Python expressions laid out as formatters do: on one line if that fits, else one argument, one call of a chain or one operand a line.

Texts of expressions come in as they were put together; what goes out has one style of quotes and no parentheses that change nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ouzel.compiler.functions.lowering import quote

WIDTH = 120
STEP = 4

OPERATORS: dict[type[ast.AST], tuple[str, int]] = {
    ast.Eq: ("==", 1), ast.NotEq: ("!=", 1), ast.Lt: ("<", 1), ast.LtE: ("<=", 1), ast.Gt: (">", 1), ast.GtE: (">=", 1),
    ast.BitOr: ("|", 2), ast.BitXor: ("^", 3), ast.BitAnd: ("&", 4), ast.LShift: ("<<", 5), ast.RShift: (">>", 5),
    ast.Add: ("+", 6), ast.Sub: ("-", 6), ast.Mult: ("*", 7), ast.Div: ("/", 7), ast.Mod: ("%", 7), ast.FloorDiv: ("//", 7),
    ast.Invert: ("~", 8), ast.USub: ("-", 8), ast.Pow: ("**", 9),
}  # fmt: skip
"""How they are written, and how closely they bind."""

CLOSEST = 10

APART = frozenset({"agg", "groupBy", "select"})
"""Calls that list columns: one a line as soon as two of them are computed, or one of many."""

ITEMS_ON_A_LINE = 3


@dataclass(frozen=True)
class ChainLink:
    """A piece of a chain, `.window("ts")` of `F.window("ts").start`: its attributes, and the call that ends it, if one does."""

    names: str
    call: ast.Call | None
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallChain:
    """What attributes and calls follow a value."""

    base: ast.expr
    links: tuple[ChainLink, ...]

    @property
    def is_fluent(self) -> bool:
        """Whether it is broken before its calls: where it has at least two that follow another."""
        after_calls = sum(before.call is not None for before in self.links[:-1])
        return after_calls + _needs_parentheses(self.base) >= 2

    @property
    def has_comments(self) -> bool:
        """Whether a line of its own stands between its links."""
        return any(link.comments for link in self.links)


def assignment(target: str, steps: Sequence[str], indent: int = 0) -> list[str]:
    """The lines of `target = ...`, where steps are an expression, calls on it that begin with a dot, and comments between them.

    Raises:
        SyntaxError: a step is not Python.
    """
    return _indent(_lay_out_assignment(f"{target} = ", _stepwise(steps), indent), indent)


def return_statement(steps: Sequence[str], indent: int = 0) -> list[str]:
    """As `assignment`, the lines of `return ...`."""
    return _indent(_lay_out_assignment("return ", _stepwise(steps), indent), indent)


def statement(text: str, indent: int = 0) -> list[str]:
    """The lines of an expression that is a statement."""
    return _indent(_lay_out_assignment("", _chain(_parse(text)), indent), indent)


def _indent(lines: Sequence[str], indent: int = STEP) -> list[str]:
    return [" " * indent + line for line in lines]


def _stepwise(steps: Sequence[str]) -> CallChain:
    comments, links = list[str](), list[ChainLink]()
    first = _chain(_parse(steps[0]))
    for step in steps[1:]:
        if step.startswith("#"):
            comments.append(step)
            continue
        more = _chain(_parse(f"_{step}")).links
        links += (ChainLink(more[0].names, more[0].call, tuple(comments)), *more[1:])
        comments = []
    return CallChain(first.base, (*first.links, *links))


def _lay_out_assignment(prefix: str, chain: CallChain, indent: int) -> list[str]:
    if chain.has_comments and not chain.is_fluent:  # too short a chain to be broken for them
        plain = CallChain(chain.base, tuple(replace(link, comments=()) for link in chain.links))
        return [*(line for link in chain.links for line in link.comments), *_lay_out_assignment(prefix, plain, indent)]
    flat = prefix + _flat_chain(chain)
    if indent + len(flat) <= WIDTH and not _is_apart(chain):
        return [flat]
    if chain.is_fluent or (not chain.links and isinstance(chain.base, ast.BinOp | ast.Compare)):
        return [f"{prefix}(", *_indent(_broken_chain(chain, "", "", indent + STEP, fluent=True)), ")"]
    return _broken_chain(chain, prefix, "", indent, fluent=False)


def _parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _chain(node: ast.expr) -> CallChain:
    links: list[ChainLink] = []
    names, call = "", None
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            if names or call:
                links.append(ChainLink(names, call))
            names, call, node = "", node, node.func
            if isinstance(node, ast.Name):
                links.append(ChainLink("", call))
                return CallChain(node, tuple(reversed(links)))
        elif isinstance(node, ast.Attribute):
            names, node = f".{node.attr}{names}", node.value
        else:
            if names or call:
                links.append(ChainLink(names, call))
            if isinstance(node, ast.Call):
                raise SyntaxError("what a call gives is called only by a name")
            return CallChain(node, tuple(reversed(links)))


def flat(node: ast.expr) -> str:
    """The expression on one line."""
    match node:
        case ast.Constant(value=str(text)):
            return quote(text)
        case ast.Attribute() | ast.Call():
            return _flat_chain(_chain(node))
        case ast.Dict(keys=keys, values=values):
            return "{" + ", ".join(f"{flat(key)}: {flat(value)}" for key, value in _pairs(keys, values)) + "}"
        case ast.List(elts=items):
            return "[" + ", ".join(map(flat, items)) + "]"
        case ast.Tuple(elts=items):
            return "(" + ", ".join(map(flat, items)) + ",)"[len(items) > 1 :]
        case ast.Lambda(args=arguments, body=body):
            return f"lambda {ast.unparse(arguments)}: {flat(body)}"
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATORS[type(op)][0] + _flat_operand(operand, _binding(node))
        case ast.BinOp() | ast.Compare():
            first, *others = _operands(node)
            return first[1] + "".join(f" {sign} {text}" for sign, text, _, _ in others)
        case ast.Subscript(value=value, slice=key):
            return f"{_flat_operand(value, CLOSEST)}[{flat(key)}]"
        case ast.Constant() | ast.Name():
            return ast.unparse(node)
    raise SyntaxError(f"{type(node).__name__} has no place in a job")


def _pairs(keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for key, value in zip(keys, values, strict=True):
        assert key is not None
        yield key, value


def _binding(node: ast.expr) -> int:
    match node:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.Compare(ops=[op]):
            return OPERATORS[type(op)][1]
        case ast.Lambda():
            return 0
    return CLOSEST


def _needs_parentheses(node: ast.expr, binding: int = CLOSEST) -> bool:
    return _binding(node) < binding


def _flat_operand(node: ast.expr, binding: int) -> str:
    return f"({flat(node)})" if _needs_parentheses(node, binding) else flat(node)


def _operands(node: ast.BinOp | ast.Compare) -> list[tuple[str, str, ast.expr, int]]:
    """What the operators of one level join, left to right: the operator before it, its text, itself, and how closely it must bind."""
    if isinstance(node, ast.Compare):
        (op,), (right,) = node.ops, node.comparators
        left: ast.expr = node.left
        sign, binding = OPERATORS[type(op)]
        return [
            ("", _flat_operand(left, binding + 1), left, binding + 1),
            (sign, _flat_operand(right, binding + 1), right, binding + 1),
        ]
    sign, binding = OPERATORS[type(node.op)]
    last = (sign, _flat_operand(node.right, binding + 1), node.right, binding + 1)
    if isinstance(node.left, ast.BinOp) and _binding(node.left) == binding:
        return [*_operands(node.left), last]
    return [("", _flat_operand(node.left, binding), node.left, binding), last]


def _flat_chain(chain: CallChain) -> str:
    return _flat_operand(chain.base, CLOSEST) + "".join(
        link.names + (f"({_flat_arguments(link.call)})" if link.call else "") for link in chain.links
    )


def _arguments(call: ast.Call) -> list[tuple[str, ast.expr]]:
    return [
        *(("", argument) for argument in call.args),
        *((f"{keyword.arg}=", keyword.value) for keyword in call.keywords),
    ]


def _flat_arguments(call: ast.Call) -> str:
    return ", ".join(name + flat(value) for name, value in _arguments(call))


def _is_apart(part: CallChain | ast.expr) -> bool:
    """Whether something of it is never on one line."""
    if isinstance(part, CallChain):
        return (
            part.has_comments
            or any(_holds_apart(link.call) for link in part.links if link.call)
            or _is_apart(part.base)
        )
    return any(_lists_columns(call) for call in ast.walk(part) if isinstance(call, ast.Call))


def _holds_apart(call: ast.Call) -> bool:
    """Whether the call's own arguments are never on one line."""
    return _lists_columns(call) or any(_is_apart(value) for _, value in _arguments(call))


def _lists_columns(call: ast.Call) -> bool:
    computed = sum(not isinstance(argument, ast.Constant) for argument in call.args)
    many = computed > 1 or (computed > 0 and len(call.args) > ITEMS_ON_A_LINE)
    return many and isinstance(call.func, ast.Attribute) and call.func.attr in APART


def _break_lines(node: ast.expr, prefix: str, suffix: str, indent: int) -> list[str]:
    """The lines of `prefix node suffix` between brackets that are there already; they begin at `indent`, which is not part of them."""
    text = prefix + flat(node) + suffix
    if indent + len(text) <= WIDTH and not _is_apart(node):
        return [text]
    match node:
        case ast.BinOp() | ast.Compare():
            return _broken_operands(node, prefix, suffix, indent)
        case ast.UnaryOp(op=op, operand=operand) if not isinstance(operand, ast.Constant):
            return _broken_operand(operand, prefix + OPERATORS[type(op)][0], suffix, indent, _binding(node))
        case ast.Attribute() | ast.Call():
            chain = _chain(node)
            return _broken_chain(chain, prefix, suffix, indent, fluent=chain.is_fluent)
        case ast.Dict(keys=keys, values=values) if keys:
            items = [
                line
                for key, value in _pairs(keys, values)
                for line in _break_lines(value, f"{flat(key)}: ", ",", indent + STEP)
            ]
            return [f"{prefix}{{", *_indent(items), f"}}{suffix}"]
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if elements:
            opening, closing = "[]" if isinstance(node, ast.List) else "()"
            items = [line for element in elements for line in _break_lines(element, "", ",", indent + STEP)]
            return [f"{prefix}{opening}", *_indent(items), f"{closing}{suffix}"]
    return [text]


def _broken_operands(node: ast.BinOp | ast.Compare, prefix: str, suffix: str, indent: int) -> list[str]:
    (_, _, first, binding), *others = _operands(node)
    lines = _broken_operand(first, prefix, "", indent, binding)
    for number, (sign, _, operand, binding) in enumerate(others, 1):
        lines += _broken_operand(operand, f"{sign} ", suffix if number == len(others) else "", indent, binding)
    return lines


def _broken_operand(node: ast.expr, prefix: str, suffix: str, indent: int, binding: int) -> list[str]:
    if not _needs_parentheses(node, binding):
        return _break_lines(node, prefix, suffix, indent)
    text = f"{prefix}({flat(node)}){suffix}"
    if indent + len(text) <= WIDTH and not _is_apart(node):
        return [text]
    return [f"{prefix}(", *_indent(_break_lines(node, "", "", indent + STEP)), f"){suffix}"]


def _broken_chain(chain: CallChain, prefix: str, suffix: str, indent: int, *, fluent: bool) -> list[str]:
    """The chain with its calls broken where they must be; if `fluent`, each call that follows another begins a line."""
    lines = _broken_operand(chain.base, prefix, "", indent, CLOSEST)
    follows_call = _needs_parentheses(chain.base)
    for number, link in enumerate(chain.links):
        if link.comments or (fluent and follows_call):
            lines += [*link.comments, ""]
        following = chain.links[number + 1 :]
        ends_line = not following or (fluent and link.call is not None) or bool(following and following[0].comments)
        after = (suffix if not following else "") if ends_line else f"{following[0].names}("
        lines[-1:] = _broken_link(link, lines[-1], after, indent)
        if not following:
            lines[-1] += suffix
        follows_call = link.call is not None
    return lines


def _broken_link(link: ChainLink, before: str, after: str, indent: int) -> list[str]:
    """The lines of the link behind what its line holds already; `after` must have room behind it."""
    before += link.names
    if link.call is None:
        return [before]
    arguments, text = _arguments(link.call), f"({_flat_arguments(link.call)})"
    if not arguments or (not _holds_apart(link.call) and indent + len(before + text + after) <= WIDTH):
        return [before + text]
    together = ", ".join(name + flat(value) for name, value in arguments)
    if not _holds_apart(link.call) and indent + STEP + len(together) <= WIDTH:
        return [f"{before}(", *_indent([together]), ")"]
    if len(arguments) == 1:
        ((name, value),) = arguments
        return [f"{before}(", *_indent(_break_lines(value, name, "", indent + STEP)), ")"]
    lines = [line for name, value in arguments for line in _break_lines(value, name, ",", indent + STEP)]
    return [f"{before}(", *_indent(lines), ")"]
