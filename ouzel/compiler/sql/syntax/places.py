"""The places of sqlglot's nodes in the user's text, and their names in errors."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from sqlglot import exp

from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, is_word
from ouzel.errors import NotSupported

_SPAN = "ouzel.span"
"""Where a node keeps its place, once it is known: looking for it goes through all that is below, and is asked of each part."""


_AROUND: dict[type[exp.Expr], tuple[tuple[str, ...], str]] = {
    exp.Paren: (("(",), ")"),
    exp.Bracket: ((), "]"),
    exp.Filter: ((), ")"),
    exp.WithinGroup: ((), ")"),
    exp.Case: (("WHEN", "CASE"), "END"),
}
"""What stands around the parts of an expression and belongs to it: before its first part, read to the left, and behind its last."""


def note_places(tree: exp.Expr, tokens: Tokens) -> None:
    """Note the place of each expression of a parsed tree, from the leaves up; of what holds a query it changes as that is bound."""
    changing: set[int] = set()
    depths = _depths(tokens)
    for node in reversed(list(tree.bfs())):
        if isinstance(node, exp.Query) or any(id(part) in changing for part in node.iter_expressions()):
            changing.add(id(node))
            continue
        spans = [part.meta[_SPAN] for part in node.iter_expressions() if _SPAN in part.meta]
        if "start" in node.meta and "end" in node.meta:
            spans.append((node.meta["start"], node.meta["end"] + 1))
        if spans:
            span = (min(start for start, _ in spans), max(end for _, end in spans))
            span = _with_signs_around(span, *_AROUND[type(node)], tokens) if type(node) in _AROUND else span
            node.meta[_SPAN] = _with_parentheses_closed(span, tokens, depths)


def _depths(tokens: Tokens) -> list[int]:
    """In how many parentheses each token stands, and the end of the text; an opening one stands outside itself, a closing one inside."""
    steps = (1 if is_word(token, "(") else -1 if is_word(token, ")") else 0 for token in tokens)
    return list(accumulate(steps, initial=0))


def _with_parentheses_closed(span: Span, tokens: Tokens, depths: list[int]) -> Span:
    """The span with the other half of each parenthesis in it: behind the last part of `x IN (1, 2)` and of OVER (...) one is left."""
    first = bisect_left(tokens, span[0], key=lambda token: token.start)
    last = bisect_left(tokens, span[1], key=lambda token: token.start)
    lowest = min(depths[first : last + 1])
    while first and depths[first] > lowest:
        first -= 1
    while last < len(tokens) and depths[last] > lowest:
        last += 1
    start = tokens[first].start if first < len(tokens) else span[0]
    return (min(start, span[0]), max(tokens[last - 1].end + 1, span[1]) if last else span[1])


def _with_signs_around(span: Span, before: tuple[str, ...], behind: str, tokens: Tokens) -> Span:
    """The span with the words of `before` that stand in front of it, and with `behind` if it is next."""
    start, end = span
    first = bisect_left(tokens, start, key=lambda token: token.start)
    last = bisect_left(tokens, end, key=lambda token: token.start)
    for word in before:
        if first and is_word(tokens[first - 1], word):
            first -= 1
            start = tokens[first].start
    if last < len(tokens) and is_word(tokens[last], behind):
        end = tokens[last].end + 1
    return (start, end)


def place(node: exp.Expr) -> Span:
    """From the first to the last character of `node`, as far as its parts know where they are."""
    if isinstance(node, exp.Anonymous) and "start" in node.meta:
        return (node.meta["start"], node.meta["end"] + 1)  # the parser made it the place of the whole call
    if _SPAN in node.meta:
        start, end = node.meta[_SPAN]
        return (start, end)
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    ends = [part.meta["end"] for part in node.walk() if "end" in part.meta]
    if starts:
        return (min(starts), max(ends) + 1)
    return place(node.parent) if node.parent is not None else (0, 1)


def call_name(node: exp.Expr) -> str:
    """The lower-case name of a call."""
    return node.name.lower()


_DESCRIPTIONS: dict[type[exp.Expr], str] = {
    exp.Subquery: "a subquery in this place (write it in WHERE, or in the select list of a query that does not group)",
    exp.Select: "a subquery as a value",
    exp.Exists: "EXISTS in this place (write it in WHERE)",
    exp.Anonymous: "a call",
    exp.Table: "a table in parentheses",
    exp.Lambda: "a lambda",
    exp.JSONExtract: "the operator ->",
    exp.JSONExtractScalar: "the operator ->>",
    exp.JSONBExtract: "the operator #>",
    exp.JSONBExtractScalar: "the operator #>>",
    exp.Tuple: "a list of values in parentheses (only comparisons and IN take such lists)",
    exp.Alias: "an alias inside an expression",
    exp.Kwarg: "a named argument",
    exp.Star: "* inside an expression",
    exp.Order: "ORDER BY inside a call",
    exp.IgnoreNulls: "IGNORE NULLS",
    exp.RespectNulls: "RESPECT NULLS",
    exp.BitwiseLeftShift: "the operator <<",
    exp.BitwiseRightShift: "the operator >>",
    exp.Parameter: "a parameter",
    exp.Placeholder: "a parameter",
    exp.Slice: "a slice of an array",
    exp.Array: "an array in brackets alone",
    exp.Struct: "a struct in braces",
    exp.Concat: "a text beside a text",
    exp.Unnest: "UNNEST outside FROM",
    exp.Any: "ANY (array)",
    exp.All: "ALL (array)",
}  # fmt: skip


_EACH_ELEMENT = "write CROSS JOIN UNNEST(array) AS u (element), and ARRAY_AGG of what is computed"
_INSTEAD: dict[type[exp.Expr], str] = {
    exp.Anonymous: "write the function's name alone",
    exp.Tuple: "write ROW(a, b) for several values as one",
    exp.Array: "write ARRAY[1, 2]",
    exp.Struct: "write ROW(1, 2)",
    exp.Slice: "write SLICE(array, start, length)",
    exp.Any: "write ARRAY_CONTAINS(array, value), or a LIKE 'x' OR a LIKE 'y'",
    exp.All: "write NOT ARRAY_CONTAINS(array, value)",
    exp.Unnest: "write FROM t CROSS JOIN UNNEST(array) AS u (element)",
    exp.Concat: "write 'a' || 'b'",
    exp.Lambda: _EACH_ELEMENT,
    exp.Limit: "write SLICE(ARRAY_AGG(value ORDER BY time), 1, n), or FIRST_VALUE(value ORDER BY time)",
    exp.Table: "write the joins without parentheses, or as a subquery: (SELECT ... FROM a JOIN b ON ...) AS c",
    exp.BitwiseLeftShift: "write SHIFTLEFT(a, n)",
    exp.BitwiseRightShift: "write SHIFTRIGHT(a, n)",
}
"""What to write instead of a part that is not supported."""


def instead_of(node: exp.Expr) -> str:
    """Advice for a part that is not supported; empty if there is none."""
    texts = [part.sql() for part in node.expressions if isinstance(part, exp.Expr)]
    if isinstance(node, exp.Array) and texts:
        return f"write ARRAY[{', '.join(texts)}]"
    if isinstance(node, exp.Concat) and texts:
        comma = f", or a comma between them: {', '.join(texts)}" if isinstance(node.parent, exp.In) else ""
        return f"write {' || '.join(texts)}{comma}"
    return f"write {_json_value(node)}" if isinstance(node, _ARROWS) else _INSTEAD.get(type(node), "")


_ARROWS = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar)


def looked_into(node: exp.Expr) -> exp.Column | None:
    """The column that arrows of Postgres look into; None for other parts."""
    begun = node
    while isinstance(begun, _ARROWS):
        begun = begun.this
    return begun if begun is not node and isinstance(begun, exp.Column) else None


def _json_value(node: exp.Expr) -> str:
    """The call that gives what arrows of Postgres lead to."""
    path: list[str] = []
    while isinstance(node, _ARROWS):
        path = [*_steps(node.expression), *path]
        node = node.this
    text = node.sql() if isinstance(node, exp.Column) else "text"
    return f"JSON_VALUE({text}, '${''.join(path)}')"


def _steps(path: exp.Expr) -> list[str]:
    """The steps of a path, or of one key of it, as JSON_VALUE has them."""
    if isinstance(path, exp.JSONPath):
        steps = [one.this for one in path.expressions if isinstance(one, exp.JSONPathKey | exp.JSONPathSubscript)]
    else:
        steps = path.name.strip("{}").split(",") if isinstance(path, exp.Literal) else ["path"]
    return [f"[{step}]" if str(step).isdigit() else f".{step}" for step in steps]


def describe(node: exp.Expr) -> str:
    """What a user calls this part."""
    return _DESCRIPTIONS.get(type(node), f"{type(node).__name__.upper()} here")


_CLAUSES = {
    "laterals": "LATERAL",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
}


def consume(source: QueryText, node: exp.Expr, *known: str) -> None:
    """Refuse a node with clauses that the binder does not read, so that nothing sqlglot parsed is lost in silence.

    Raises:
        NotSupported: naming the clause.
    """
    for key, value in node.args.items():
        if value and key not in known:
            inner = value[0] if isinstance(value, list) else value
            span = place(inner) if isinstance(inner, exp.Expr) else place(node)
            name = _CLAUSES.get(key, key.strip("_").upper().replace("_", " "))
            raise source.error(f"{name} is not supported here", span, kind=NotSupported)
