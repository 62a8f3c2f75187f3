"""From the tokens of a query to sqlglot's tree, with the EMIT clause read by us and errors said in our words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.plan import Emit, EmitRule
from ouzel.compiler.sql.literals import interval_us
from ouzel.compiler.sql.rewrite import rewrite_query
from ouzel.compiler.sql.source import QueryText, Span, Tokens, depth_change, is_word, span_of
from ouzel.compiler.types import DataType
from ouzel.errors import NotSupported, QueryError


@dataclass(frozen=True)
class EmitClause:
    """EMIT as written."""

    emit: Emit
    span: Span


@dataclass(frozen=True)
class Query:
    """A parsed query; `types` are those of its casts by offset."""

    tree: exp.Expr
    types: dict[int, DataType]
    emit: EmitClause | None = None


def parse_query(source: QueryText, tokens: Tokens) -> Query:
    """The tree of a query.

    Raises:
        QueryError: it is not a query.
        NotSupported: it uses a construct outside the subset.
    """
    body, emit = _split_emit(source, tokens)
    if not body:
        raise source.error("there is no query here", span_of(tokens), "write SELECT ...")
    rewritten = rewrite_query(source, body)
    tree = _parse(source, rewritten.tokens)
    if not isinstance(tree, exp.Query | exp.Values):
        raise source.error("this is not a query", span_of(body), "write SELECT ...")
    return Query(tree, rewritten.types, emit)


def parse_expression(source: QueryText, tokens: Tokens) -> Query:
    """The tree of one expression, of CREATE TABLE.

    Raises:
        QueryError: it is not an expression.
    """
    rewritten = rewrite_query(source, tokens)
    return Query(_parse(source, rewritten.tokens), rewritten.types)


def _parse(source: QueryText, tokens: list[Token]) -> exp.Expr:
    try:
        tree = Parser(error_level=ErrorLevel.IMMEDIATE, error_message_context=len(source.text)).parse(
            tokens, source.text
        )[0]
    except ParseError as error:
        raise _syntax_error(source, tokens, error) from None
    assert tree is not None
    tree.meta["start"], tree.meta["end"] = (
        tokens[0].start,
        tokens[0].end,
    )  # a last resort for parts that do not know their place
    return tree


_ENDS = (TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN, TokenType.END)
"""What a query may end with; after any other token something is missing."""
_SQLGLOT_SAYS = (
    (r"^Expecting \)", "a ) is missing"),
    (r"^Expecting \(", "a ( is missing"),
    (r"^Expecting \]", "a ] is missing"),
    (r"^Expected table name", "the name of a table is missing"),
    (r"^Expected END after CASE", "CASE has no END"),
    (r"^Expected AND after BETWEEN", "BETWEEN has no AND"),
    (r"^Required argument 'expression' missing", "something is missing after this"),
    (r"^Required argument 'this' missing", "something is missing before or after this"),
)


def _syntax_error(source: QueryText, tokens: list[Token], error: ParseError) -> QueryError:
    first = error.errors[0] if error.errors else {}
    at = len(first.get("start_context") or "")
    end = at + max(1, len(first.get("highlight") or ""))
    description = first.get("description") or ""
    for pattern, problem in _SQLGLOT_SAYS:
        if re.match(pattern, description):
            return source.error(problem, (at, end))
    if at >= tokens[-1].start and tokens[-1].token_type not in _ENDS:
        return source.error(f"something is missing after {source.text[at:end]}", (at, end))
    if re.fullmatch("SELECT|INSERT|CREATE|SET|WITH|EXPLAIN", source.text[at:end].upper()):
        return source.error(f"a ; is missing before {source.text[at:end]}", (at, end))
    return source.error(
        f"{source.text[at:end]} does not belong here", (at, end), "see docs/sql.md for what a query may hold"
    )


_ALIASES = {
    "ON WINDOW CLOSE": EmitRule.WATERMARK, "FINAL": EmitRule.WATERMARK, "AFTER WATERMARK": EmitRule.WATERMARK,
    "ON UPDATE": EmitRule.CHANGES, "CHANGES": EmitRule.CHANGES,
    "AFTER DELAY": EmitRule.DELAY, "PERIODIC": EmitRule.DELAY, "EVERY": EmitRule.DELAY,
}  # fmt: skip
_STARTS = ("CHANGES", "STREAM", "CHANGELOG", "UPSERT", "AFTER", "ON", "FINAL", "PERIODIC", "EVERY")


def _split_emit(source: QueryText, tokens: Tokens) -> tuple[Tokens, EmitClause | None]:
    depth = 0
    for index, token in enumerate(tokens[:-1]):
        depth += depth_change(token)
        if is_word(token, "EMIT") and index and is_word(tokens[index + 1], *_STARTS):
            if depth:
                raise source.error(
                    "EMIT stands inside a subquery", span_of([token]), "write it once, at the end of the statement"
                )
            return tokens[:index], _emit(source, tokens[index:])
    return tokens, None


def _emit(source: QueryText, tokens: Tokens) -> EmitClause:
    span, words = span_of(tokens), _words(tokens)[1:]
    if words[0] in ("STREAM", "CHANGELOG", "UPSERT"):
        words = words[1:]
    for count in (3, 2, 1):
        rule = _ALIASES.get(" ".join(words[:count]))
        if rule:
            break
    else:
        raise source.error(
            f"EMIT {' '.join(words)} is not known",
            span,
            "write EMIT CHANGES, EMIT AFTER WATERMARK or EMIT AFTER DELAY INTERVAL '5' SECOND",
        )
    rest = tokens[len(tokens) - (len(words) - count) :]
    if rule is EmitRule.DELAY:
        return EmitClause(Emit(rule, interval_us(source, rest, span) // 1000), span)
    lateness_us = 0
    if rule is EmitRule.WATERMARK and _words(rest[:2]) == ["WITH", "LATENESS"]:
        lateness_us, rest = interval_us(source, rest[2:], span), []
    if rest:
        _refuse_rest(source, rest)
    return EmitClause(Emit(rule, lateness_us=lateness_us), span)


def _words(tokens: Tokens) -> list[str]:
    return [token.text.upper() if token.token_type is not TokenType.STRING else token.text for token in tokens]


def _refuse_rest(source: QueryText, rest: Tokens) -> None:
    refused = {
        "AND": ("EMIT with several rules", "write one; AFTER WATERMARK WITH LATENESS gives an answer, and changes it"),
        "LATE": (
            "LATE INTO",
            "write WITH LATENESS INTERVAL '1' HOUR, and late rows change the window that they belong to",
        ),
    }.get(rest[0].text.upper())
    if is_word(rest[0], "WITH"):
        problem = "WITH LATENESS belongs to EMIT AFTER WATERMARK"
        raise source.error(problem, span_of(rest), "write EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' HOUR")
    if refused:
        construct, advice = refused
        raise source.error(f"{construct} is not supported", span_of(rest), advice, NotSupported)
    raise source.error(f"{rest[0].text} does not belong here", span_of(rest), "the EMIT clause ends the statement")
