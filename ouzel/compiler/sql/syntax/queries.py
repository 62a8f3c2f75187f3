"""From the tokens of a query to sqlglot's tree, with the EMIT clause read by us and errors said in our words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.sql.expressions.literals import UNITS
from ouzel.compiler.sql.queries.group_keys import spell_group_by_all, spread_keys
from ouzel.compiler.sql.syntax.clauses import check_order_of_clauses
from ouzel.compiler.sql.syntax.dialect import QueryParser
from ouzel.compiler.sql.syntax.emit_clause import EmitClause, split_emit
from ouzel.compiler.sql.syntax.nesting import check_tokens, check_tree
from ouzel.compiler.sql.syntax.places import note_places
from ouzel.compiler.sql.syntax.precedence import settle_precedence
from ouzel.compiler.sql.syntax.refusals import refuse_words
from ouzel.compiler.sql.syntax.source import QueryText, Tokens, is_word, matching, span_of
from ouzel.compiler.sql.syntax.words import bare_word, is_kind
from ouzel.errors import QueryError


@dataclass(frozen=True)
class Query:
    """A query without its EMIT clause, and that."""

    tree: exp.Expr
    emit: EmitClause | None = None


def parse_query(source: QueryText, tokens: Tokens) -> Query:
    """The tree of a query.

    Raises:
        QueryError: it is not a query.
        NotSupported: it uses a construct outside the subset.
    """
    body, emit = split_emit(source, tokens)
    if not body:
        raise source.error("there is no query here", span_of(tokens), "write SELECT ...")
    tree = parse_expression(source, body)
    if not isinstance(tree, exp.Query | exp.Values):
        raise source.error("this is not a query", span_of(body), "write SELECT ...")
    spell_group_by_all(source, tree)
    spread_keys(source, tree)
    return Query(tree, emit)


def parse_expression(source: QueryText, tokens: Tokens) -> exp.Expr:
    """The tree of one expression, such as CREATE TABLE has, or of a query.

    Raises:
        QueryError: it is none.
        NotSupported: it uses a construct outside the subset.
    """
    check_tokens(source, tokens)
    refuse_words(source, tokens)
    check_order_of_clauses(source, tokens)
    parser = QueryParser(source)
    try:
        tree = parser.parse(list(tokens), source.text)[0]
    except ParseError as error:
        raise _syntax_error(source, tokens, error) from None
    assert tree is not None
    if "start" not in tree.meta:  # a last resort for parts that do not know their place
        tree.meta["start"], tree.meta["end"] = tokens[0].start, tokens[0].end
    note_places(tree, tokens)
    check_tree(source, tree)
    return settle_precedence(source, tree)


_ENDS = (TokenType.IDENTIFIER, TokenType.VAR, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN, TokenType.END)
"""What a query may end with; after any other token something is missing."""
_SQLGLOT_SAYS = (
    (r"^Expecting \)", "a ) is missing", ""),
    (r"^Expecting \(", "a ( is missing", ""),
    (r"^Expecting \]", "a ] is missing", ""),
    (r"^Expected table name", "the name of a table is missing", ""),
    (r"^Expected AS", "AS is missing after this", ""),
    (r"^Expected END after CASE", "CASE has no END", "write END behind its last value"),
    (r"^Expected AND after BETWEEN", "BETWEEN has no AND", "write BETWEEN 1 AND 2"),
    (r"^Required argument 'expression' missing", "something is missing after this", ""),
    (r"^Required argument 'this' missing", "something is missing before or after this", ""),
)


def _syntax_error(source: QueryText, tokens: Tokens, error: ParseError) -> QueryError:
    first = error.errors[0] if error.errors else {}
    at = len(first.get("start_context") or "")
    end = at + max(1, len(first.get("highlight") or ""))
    description = first.get("description") or ""
    if description.startswith("Expected END after CASE") and (whens := _case_without_when(source, tokens, at)):
        return whens
    for pattern, problem, instead in _SQLGLOT_SAYS:
        if re.match(pattern, description) and not (description.startswith("Expecting )") and _is_balanced(tokens)):
            return source.error(problem, (at, end), instead)
    if at >= tokens[-1].start and tokens[-1].token_type not in _ENDS:
        return source.error(f"something is missing after {source.text[at:end]}", (at, end))
    if (name := _cte_without_comma(tokens, at)) is not None:
        return source.error(f"a comma is missing before {name.text}", span_of([name]), f"write ), {name.text} AS (")
    if re.fullmatch("SELECT|INSERT|CREATE|SET|WITH|EXPLAIN", source.text[at:end].upper()) and not _guess_dialect(
        tokens, at
    ):
        return source.error(f"a ; is missing before {source.text[at:end]}", (at, end))
    if source.text[at:end].upper() == "EMIT":
        return source.error("this EMIT clause is none", (at, end), _EMIT)
    if (between := _open_between(tokens, at)) is not None:
        return source.error(
            f"BETWEEN has no AND before {source.text[at:end]}", (at, end), _advise_and(source, tokens, between, at)
        )
    if source.text[at:end] == ")" and not _is_balanced(tokens):
        return source.error("nothing opens this )", (at, end), "leave it out, or write ( where it opens")
    guesses = (
        guess(tokens, at)
        for guess in (_guess_version, _guess_dialect, _guess_parentheses, _guess_clause, _guess_comma, _guess_operator)
    )
    advice = next(filter(None, guesses), "see docs/sql.md for what a query may hold")
    return source.error(f"{source.text[at:end]} does not belong here", (at, end), advice)


_EMIT = "write EMIT CHANGES, EMIT AFTER WATERMARK or EMIT AFTER DELAY INTERVAL '5' SECOND"
_CLAUSES = (
    "SELECT",
    "DISTINCT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "JOIN",
    "UNION",
    "BETWEEN",
    "LIKE",
)


def _case_without_when(source: QueryText, tokens: Tokens, at: int) -> QueryError | None:
    """The error for `CASE a > 1 THEN`, where this is one."""
    before = [token for token in tokens if token.end < at]
    case = next((number for number in range(len(before) - 1, -1, -1) if is_word(before[number], "CASE")), None)
    behind = [] if case is None else [token for token in tokens if token.start > before[case].start]
    word = next((token for token in behind if is_word(token, "WHEN", "THEN", "END")), None)
    if case is None or word is None or not is_word(word, "THEN"):
        return None
    condition = source.text[before[case].end + 1 : word.start].strip()
    return source.error("this CASE has no WHEN", span_of([before[case]]), f"write CASE WHEN {condition} THEN")


def _open_between(tokens: Tokens, at: int) -> Token | None:
    """The BETWEEN before this place to which no AND belongs yet."""
    for token in reversed([token for token in tokens if token.end < at]):
        if is_word(token, "BETWEEN"):
            return token
        if is_word(token, "AND", "WHERE", "ON", "HAVING", "SELECT", "FROM", "WHEN"):
            return None
    return None


def _advise_and(source: QueryText, tokens: Tokens, between: Token, at: int) -> str:
    """BETWEEN with AND in the place of the word that stands there."""
    low = source.text[between.end + 1 : at].strip()
    high = next((token for token in tokens if token.start > at), None)
    return f"write BETWEEN {low} AND {source.text[high.start : high.end + 1] if high else '...'}"


def _guess_clause(tokens: Tokens, at: int) -> str:
    """The clause that the word before this place is like: `SELECT a FORM t` trips over t."""
    before = next((token for token in reversed(tokens) if token.end < at), None)
    if before is None or before.token_type is not TokenType.VAR:
        return ""
    if before.text.upper() == "EMIT":
        return _EMIT
    follows = next((token for token in tokens if token.start >= at), None)
    near = get_close_matches(before.text.upper(), ("GROUP", "ORDER", "PARTITION"), 1, 0.7)
    if follows is not None and is_word(follows, "BY") and near:
        return f"did you mean {near[0]} BY where you wrote {before.text} BY?"
    close = get_close_matches(before.text.upper(), _CLAUSES, 1, 0.7)
    return f"did you mean {close[0]} where you wrote {before.text}?" if close else ""


def _guess_comma(tokens: Tokens, at: int) -> str:
    """Advice for a third name in a row: `SELECT a b c`."""
    index = next((index for index, token in enumerate(tokens) if token.start >= at), len(tokens))
    if not all(is_kind(tokens, index - back, TokenType.VAR, TokenType.IDENTIFIER) for back in range(3)):
        return ""
    opened = next(
        (bare_word(tokens, before) for before in range(index, -1, -1) if bare_word(tokens, before) in _CLAUSES), ""
    )
    first, second, third = (tokens[index - back].text for back in (2, 1, 0))
    return f"a comma is missing: write {first}, {second}, {third}" if opened in ("SELECT", "DISTINCT") else ""


def _is_balanced(tokens: Tokens) -> bool:
    """Whether each parenthesis that opens is closed."""
    kinds = [token.token_type for token in tokens]
    return kinds.count(TokenType.L_PAREN) == kinds.count(TokenType.R_PAREN)


def _guess_operator(tokens: Tokens, at: int) -> str:
    """Advice for two values with nothing between them, the last resort."""
    index = next((index for index, token in enumerate(tokens) if token.start >= at), len(tokens))
    if index and is_kind(tokens, index - 1, *_ENDS) and is_kind(tokens, index, *_ENDS, TokenType.L_PAREN):
        before, behind = tokens[index - 1], tokens[index]
        missing = "AND or OR" if _ends_comparison(tokens, index) else "an operator or a comma"
        return f"write {missing} between {before.text} and {behind.text}"
    return ""


_CONDITIONS = ("WHERE", "HAVING", "ON", "QUALIFY")
_COMPARES = ("=", "<>", "!=", "<", "<=", ">", ">=", "LIKE", "ILIKE", "IN", "IS", "BETWEEN")


def _ends_comparison(tokens: Tokens, index: int) -> bool:
    """Whether a comparison of WHERE, HAVING, ON or QUALIFY, in no parentheses, ends before the token at `index`."""
    depth, compared = 0, False
    for token in reversed(tokens[:index]):
        depth += (token.token_type is TokenType.R_PAREN) - (token.token_type is TokenType.L_PAREN)
        if depth < 0 or (depth == 0 and not compared and is_word(token, "AND", "OR", *_CLAUSES)):
            return False
        if depth == 0 and is_word(token, *_CONDITIONS):
            return True
        compared = compared or (depth == 0 and is_word(token, *_COMPARES))
    return False


def _guess_parentheses(tokens: Tokens, at: int) -> str:
    """Advice for a window without its parentheses, and for an interval of several parts without its quotes."""
    index = next((index for index, token in enumerate(tokens) if token.start >= at), len(tokens))
    if bare_word(tokens, index - 1) == "OVER":
        return "write OVER (PARTITION BY key ORDER BY time)"
    if bare_word(tokens, index - 2) == "INTERVAL" and bare_word(tokens, index).removesuffix("S") in UNITS:
        unit = bare_word(tokens, index).removesuffix("S")
        return f"write {tokens[index - 1].text} * INTERVAL '1' {unit}"
    if bare_word(tokens, index - 3) == "INTERVAL":
        return "write an interval of several parts as a text: INTERVAL '1 day 2 hours'"
    for at_unit in (index, index - 1):  # in `ts - 1 DAY AS d` the unit is read as a name
        unit = bare_word(tokens, at_unit).removesuffix("S")
        if unit in UNITS and is_kind(tokens, at_unit - 1, TokenType.NUMBER):
            return f"write INTERVAL '{tokens[at_unit - 1].text}' {unit}"
    return ""


def _guess_dialect(tokens: Tokens, at: int) -> str:
    """Advice for a clause of another dialect."""
    index = next((index for index, token in enumerate(tokens) if token.start >= at), len(tokens))
    if bare_word(tokens, index) == "ON" and bare_word(tokens, index + 1) == "CONFLICT":
        return "leave it out: PRIMARY KEY (...) NOT ENFORCED in CREATE TABLE has rows replace those of their key"
    if bare_word(tokens, index) == "WITH" and bare_word(tokens, index + 1) == "DATA":
        return "leave it out: a view has the rows that its query gives"
    if bare_word(tokens, index) == "WITH" and bare_word(tokens, index + 1) == "OFFSET":
        place = tokens[index + 2 + (bare_word(tokens, index + 2) == "AS")].text if index + 3 < len(tokens) else "place"
        alias = tokens[index - 1].text if is_kind(tokens, index - 1, TokenType.VAR) else "element"
        opened = next((at for at in range(index, 0, -1) if bare_word(tokens, at) == "UNNEST"), index)
        closed = matching(tokens, opened + 1) or index
        array = "".join(token.text for token in tokens[opened + 2 : closed]) or "array"
        return f"write CROSS JOIN UNNEST({array}) WITH ORDINALITY AS u ({alias}, {place}), which counts from 1"
    into = next((at for at in (index, index - 1) if bare_word(tokens, at) == "INTO"), len(tokens))
    if into + 1 < len(tokens):
        name = tokens[into + 1].text
        return f"write INSERT INTO {name} SELECT ..., or CREATE TABLE {name} WITH ('connector' = ...) AS SELECT ..."
    if bare_word(tokens, index) in ("ISNULL", "NOTNULL") and index:
        return f"write {tokens[index - 1].text} IS {'NOT ' * (bare_word(tokens, index) == 'NOTNULL')}NULL"
    if index < len(tokens) and tokens[index].text.startswith("#"):
        return "a comment begins with --, or stands between /* and */"
    if is_kind(tokens, index, TokenType.FARROW):
        return "write >= to compare"
    if bare_word(tokens, index - 1) in ("SAMPLE", "TABLESAMPLE"):
        return "a part of the rows is not chosen by chance: write a condition such as MOD(id, 10) = 0"
    if bare_word(tokens, index) in ("AND", "OR") and bare_word(tokens, index - 1) in ("AND", "OR"):
        return f"write one of {bare_word(tokens, index - 1)} and {bare_word(tokens, index)}"
    if "OFFSET" in (bare_word(tokens, index), bare_word(tokens, index - 1)):
        return "OFFSET takes a whole number: write OFFSET 10"
    if bare_word(tokens, index) == "PERCENT":
        return "write how many rows: LIMIT 10"
    using = next((at for at in (index, index - 1) if bare_word(tokens, at) == "USING"), len(tokens))
    if using + 1 < len(tokens):
        return f"write USING ({tokens[using + 1].text})"
    if bare_word(tokens, index - 1) == "WATERMARK" and index < len(tokens):
        time = tokens[index].text
        return f"a watermark is declared in CREATE TABLE: write WATERMARK FOR {time} AS {time} - INTERVAL '10' MINUTE among the columns"
    if bare_word(tokens, index - 1) in ("ROLLUP", "CUBE", "GROUPING SETS") and index < len(tokens):
        return f"keys stand in parentheses: write {tokens[index - 1].text} ({tokens[index].text}, ...)"
    if bare_word(tokens, index) == "PARTITION BY" and bare_word(tokens, index - 1) != "OVER":
        return "leave it out: the planner spreads rows over tasks; of a call write OVER (PARTITION BY key)"
    if bare_word(tokens, index) == "WITHIN":
        return "write the span in ON: ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR"
    return ""


def _cte_without_comma(tokens: Tokens, at: int) -> Token | None:
    """The name in `) b AS (SELECT`, where this place is behind the last parenthesis."""
    index = next((index for index, token in enumerate(tokens) if token.start >= at), len(tokens))
    is_cte = (
        is_kind(tokens, index - 1, TokenType.L_PAREN)
        and bare_word(tokens, index - 2) == "AS"
        and is_kind(tokens, index - 3, TokenType.VAR, TokenType.IDENTIFIER)
        and is_kind(tokens, index - 4, TokenType.R_PAREN)
        and is_word(tokens[0], "WITH")
    )
    return tokens[index - 3] if is_cte else None


def _guess_version(tokens: Tokens, at: int) -> str:
    """Advice for FOR SYSTEM_TIME AS OF behind an alias, where other databases have it: it belongs to the table."""
    index = next((index for index, token in enumerate(tokens) if token.start >= at), len(tokens))
    if any(
        bare_word(tokens, near) in ("AT", "BEFORE") and is_kind(tokens, near + 1, TokenType.L_PAREN)
        for near in (index, index - 2, index - 3)
    ):
        return "a table has no former versions to read: choose rows by their time, WHERE ts <= TIMESTAMP '2013-01-31 00:00:00'"
    if is_kind(tokens, index - 2, TokenType.L_BRACE) and bare_word(tokens, index - 1) in ("FN", "D", "T", "TS"):
        return f"write it without the braces and without {tokens[index - 1].text}"
    if bare_word(tokens, index) != "FOR" or bare_word(tokens, index + 1) != "SYSTEM_TIME" or index < 2:
        return ""
    table, alias = tokens[index - 3 if bare_word(tokens, index - 2) == "AS" else index - 2].text, tokens[index - 1].text
    return f"it stands before the alias: write {table} FOR SYSTEM_TIME AS OF time AS {alias}"
