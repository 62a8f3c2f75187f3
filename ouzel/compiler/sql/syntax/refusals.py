"""What is refused by its words, before the parser trips over it or reads past it: constructs of other dialects, with what to write here
instead, reserved words as names, and commas that nothing follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

from sqlglot.tokenizer_core import TokenType

from ouzel.compiler.sql.syntax.brackets import refuse_brackets
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, is_word, matching, span_of
from ouzel.compiler.sql.syntax.words import bare_word, is_bare, is_kind, is_operand
from ouzel.errors import NotSupported

_RESERVED_LIST = (
    "SELECT FROM WHERE GROUP ORDER HAVING AS AND OR NOT IN IS LIKE BETWEEN CASE WHEN THEN ELSE DISTINCT UNION CROSS JOIN ON WITH LIMIT "
    "INTERSECT EXCEPT FETCH UNNEST"
)
_RESERVED = frozenset(word for word in _RESERVED_LIST.split())
"""Words that cannot name a column without quotes."""
_CREATED = re.compile(r"(?i)\bCREATE\s+(?:TEMPORARY\s+)?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)")
"""The names of what a text creates, as far as they are in no quotes."""
_AFTER_A_LIST = frozenset(
    {"FROM", "WHERE", "GROUP BY", "HAVING", "UNION", "INTERSECT", "EXCEPT", "QUALIFY", "ORDER BY", "LIMIT"}
)

_REFUSED = {
    "SORT BY": "SORT BY is not supported: a stream has no end to sort at; write ORDER BY ... LIMIT 10 behind the query",
    "LIMIT": "LIMIT of anything but a whole number is not supported: write LIMIT 10",
    "FETCH": "FETCH without FIRST n ROWS ONLY is not supported: write LIMIT 10",
    "RECURSIVE": "WITH RECURSIVE is not supported: write each step as a view, as many as there can be; "
    "or a series of numbers as FROM UNNEST(SEQUENCE(1, 5)) AS u (n)",
    "LATERAL": "LATERAL of anything but a subquery or UNNEST is not supported: have the function give an ARRAY, and write CROSS JOIN "
    "UNNEST(f(x))",
    "MATCH_RECOGNIZE": "MATCH_RECOGNIZE is not supported: compare a row with that before by LAG(...) OVER (PARTITION BY ... ORDER BY ts)",
    "TABLESAMPLE": "TABLESAMPLE is not supported: write a condition such as MOD(id, 10) = 0",
    "WINDOW": "the clause WINDOW is not supported: write FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR) "
    "and GROUP BY window_start, window_end",
    "TOP": "TOP is not supported: write LIMIT 10 behind the query",
}  # fmt: skip
_ONLY_THERE: dict[str, Callable[[Tokens, int], bool]] = {
    "LIMIT": lambda tokens, at: (
        not (at and (is_kind(tokens, at + 1, TokenType.NUMBER) or bare_word(tokens, at + 1) in ("ALL", "NULL")))
    ),
    "FETCH": lambda tokens, at: not at or tokens[at].token_type is not TokenType.FETCH,
    "WINDOW": lambda tokens, at: bare_word(tokens, at + 1) in ("TUMBLING", "HOPPING", "SESSION"),
    "TOP": lambda tokens, at: (
        bare_word(tokens, at - 1) in ("SELECT", "DISTINCT")
        and is_kind(tokens, at + 1 + is_kind(tokens, at + 1, TokenType.L_PAREN), TokenType.NUMBER)
    ),
    "LATERAL": lambda tokens, at: (
        not is_kind(tokens, at + 1, TokenType.L_PAREN) and bare_word(tokens, at + 1) not in ("UNNEST", "FLATTEN")
    ),
}
"""Where some of these words are refused; others are wherever they stand."""
_WRITTEN = "which a table with 'format' = 'json' writes as JSON"
_JSON_INSTEAD = {
    "JSON_QUERY": "write GET_JSON_OBJECT(text, '$.path')",
    "JSON_OBJECT": f"select ROW(a, b) or MAP['key', value], {_WRITTEN}",
    "JSON_ARRAY": f"select ARRAY[a, b], {_WRITTEN}",
    "JSON_STRING": f"select the value itself, {_WRITTEN}",
    "JSON_OBJECTAGG": f"select MAP_AGG(key, value), {_WRITTEN}",
    "JSON_ARRAYAGG": f"select ARRAY_AGG(value), {_WRITTEN}",
    "JSON_QUOTE": f"select the text itself, {_WRITTEN}",
    "JSON_UNQUOTE": "write JSON_VALUE(text, '$')",
}
_MEANT = {
    "JSON_VALUE": "JSON_VALUE gives NULL where there is no value or it cannot be read",
    "JSON_EXISTS": "JSON_EXISTS gives FALSE where the text is not JSON",
}
_OTHERWISE = {
    "JSON_VALUE": "COALESCE(JSON_VALUE(text, path), value) for another value than NULL",
    "JSON_EXISTS": "JSON_EXISTS(text, path) OR NOT JSON_EXISTS(text, '$') for TRUE",
}
_ANYWHERE = {
    "LATERAL VIEW": "write CROSS JOIN UNNEST(array) AS t (element)",
    "POSITIONAL JOIN": "rows of a stream have no position; join by a key",
    "WITH ROLLUP": "write GROUP BY ROLLUP (a, b)",
    "WITH CUBE": "write GROUP BY CUBE (a, b)",
    "WITH TOTALS": "write GROUP BY ROLLUP (a, b), whose last row is of all",
    "UNION BY NAME": "name the columns of both sides in one order",
    "UNION ALL BY NAME": "name the columns of both sides in one order",
    "SELECT AS": "select the values as one: SELECT ROW(a, b) AS s",
    "DISTRIBUTE BY": "leave it out: the planner chooses how rows are spread over tasks",
    "CLUSTER BY": "leave it out: the planner chooses how rows are spread over tasks",
    "WITH NO DATA": "leave it out: a view has the rows that its query gives",
    "FOR UPDATE": "leave it out: a query takes no locks",
    "BETWEEN SYMMETRIC": "write BETWEEN LEAST(a, b) AND GREATEST(a, b)",
    "IS JSON": "write JSON_EXISTS(text, '$')",
    "IS NOT JSON": "write NOT JSON_EXISTS(text, '$')",
    "NULLS ARE": "write NULLS FIRST or NULLS LAST",
}
_BEFORE_PARENTHESIS = {
    "PIVOT": "write an aggregate for each value: SUM(x) FILTER (WHERE k = 'a') AS a",
    "UNPIVOT": "write CROSS JOIN UNNEST(ARRAY[a, b]) AS u (value)",
    "CROSS APPLY": "write CROSS JOIN LATERAL (SELECT ...) AS a",
    "OUTER APPLY": "write LEFT JOIN LATERAL (SELECT ...) AS a ON TRUE",
    "KEEP": "write MAX_BY(value, time) for the value with the last time, MIN_BY(value, time) for that with the first",
}
"""A name may be any of these words, so they are known by what stands before them and the parenthesis behind."""
_BETWEEN_VALUES = {
    "COLLATE": "texts are compared code point by code point; compare LOWER(text)",
    "OVERLAPS": "write a < d AND c < b, for spans from a to b and from c to d",
    "XOR": "write a <> b",
    "GLOB": "write LIKE, or REGEXP_LIKE",
    "CONTAINS": "write a LIKE '%b%'",
    "STARTS WITH": "write a LIKE 'b%'",
    "ENDS WITH": "write a LIKE '%b'",
    "SEPARATOR": "write STRING_AGG(value, ';')",
    "~": "write REGEXP_LIKE(text, 'pattern')",
    "~*": "write REGEXP_LIKE(text, '(?i)pattern')",
}
_FOREIGN = _ANYWHERE | _BEFORE_PARENTHESIS | _BETWEEN_VALUES
_FIRST_WORDS = frozenset(words.split()[0] for words in _FOREIGN)
_SIGNS = {
    "&&": "write AND",
    "//": "write a DIV b",
    "**": "write POWER(a, b)",
    "=<": "write <=",
    "=!": "write <>",
    "|>": "write the query in one piece: SELECT ... FROM t WHERE ...",
    "@>": "write ARRAY_CONTAINS(a, value) of an array a, JSON_EXISTS(a, '$.key') of JSON text",
    "<@": "write ARRAY_CONTAINS(b, value) of an array b, JSON_EXISTS(b, '$.key') of JSON text",
    "!~": "write NOT REGEXP_LIKE(text, 'pattern')",
    "!~*": "write NOT REGEXP_LIKE(text, '(?i)pattern')",
}
_OVERLAP = "write EXISTS (SELECT 1 FROM UNNEST(array) AS u (element) WHERE element IN ('a', 'b'))"
_PREFIXES = {"E": "write the character itself between the quotes", "R": "leave the r out: a backslash is a backslash"}


def refuse_words(source: QueryText, tokens: Tokens) -> None:
    """Refuse what we do not have and what cannot stand where it is.

    Raises:
        NotSupported: a construct, at its place, with what to write instead.
        QueryError: a reserved word or a comma, at its place.
    """
    for index, token in enumerate(tokens):
        if is_word(token, "FLATTEN"):
            _refuse_flatten(source, tokens, index)  # before the signs that look into what it gives: f.value:name
    _refuse_tokens(source, tokens)
    refuse_brackets(source, tokens)
    for index, token in enumerate(tokens):
        _refuse_signs(source, tokens[index : index + 2])
        if token.text.upper() in _FIRST_WORDS:
            _refuse_foreign(source, tokens, index)
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.COMMA:
            _refuse_trailing(source, tokens, index)
        elif is_bare(token):
            _refuse_reserved(source, tokens, index, token.text.upper())
            _refuse_clause(source, tokens, index, token.text.upper())
            _refuse_partition(source, tokens, index)


def _refuse_partition(source: QueryText, tokens: Tokens, at: int) -> None:
    """`OVER (PARTITION key)`: the parser takes the word for the name of a window."""
    is_window = bare_word(tokens, at - 2) in ("OVER", "AS") and is_kind(tokens, at - 1, TokenType.L_PAREN)
    if is_word(tokens[at], "PARTITION") and is_window and is_kind(tokens, at + 1, TokenType.VAR, TokenType.IDENTIFIER):
        key = tokens[at + 1]
        shown = source.text[key.start : key.end + 1]
        raise source.error("PARTITION without BY", span_of([tokens[at]]), f"write PARTITION BY {shown}")


def _refuse_tokens(source: QueryText, tokens: Tokens) -> None:
    """Single tokens that mean another thing elsewhere: sqlglot reads `a:b` as `a AS b`, `0x1F` as bytes and `N'a'` as a name.

    Within brackets and braces a colon is of a slice and a struct, which others refuse.
    """
    depth = in_type = 0
    for at, token in enumerate(tokens):
        depth += token.token_type in (TokenType.L_BRACKET, TokenType.L_BRACE)
        depth -= token.token_type in (TokenType.R_BRACKET, TokenType.R_BRACE)
        in_type += token.text == "<" and at > 0 and is_word(tokens[at - 1], "ARRAY", "MAP", "ROW", "STRUCT")
        in_type -= token.text.count(">") if in_type > 0 and token.token_type is not TokenType.STRING else 0
        if _begins_parameter(tokens, at):
            raise source.error("a parameter is not supported", span_of(tokens[at : at + 2]), _VALUE, NotSupported)
        if _begins_template(tokens, at):
            raise source.error("a template is not filled in", span_of(tokens[at : at + 2]), _RENDERED)
        if depth == 0 and in_type <= 0 and token.token_type in (TokenType.COLON, TokenType.COLON_EQ):
            left = _path_before(source, tokens, at) or "a"
            path = re.match(r"\s*(\w[\w.]*)", source.text[token.end + 1 :])
            right = path[1] if path else "b"
            advice = f"write {left}.{right} for a field of a ROW, JSON_VALUE({left}, '$.{right}') for one of JSON text"
            advice += "" if "." in right else f", or {left} AS {right} for a name"
            raise source.error(f"there is no operator {token.text}", span_of([token]), advice)
        if is_kind(tokens, at, TokenType.PLUS) and _stands_alone(tokens, at):
            advice = "write a LEFT JOIN b ON a.k = b.k, where b is the table whose columns have the sign"
            raise source.error("(+) is not supported", span_of(tokens[at - 1 : at + 2]), advice, NotSupported)
        if token.token_type is TokenType.NATIONAL_STRING:
            raise source.error(
                "a text that begins with N' is not supported", span_of([token]), "leave the N out", NotSupported
            )
        if token.token_type is TokenType.HEX_STRING and source.text[token.start : token.start + 2].lower() == "0x":
            advice = f"write {int(token.text or '0', 16)}, or x'{token.text}' for BYTES"
            raise source.error("a hexadecimal number is not supported", span_of([token]), advice, NotSupported)
        if foreign := _foreign_parameter(source, tokens, at):
            raise source.error("a parameter is not supported", foreign, _VALUE, NotSupported)
        if token.token_type is TokenType.PLACEHOLDER:
            raise source.error("a parameter is not supported", span_of([token]), _VALUE, NotSupported)


def _path_before(source: QueryText, tokens: Tokens, at: int) -> str:
    """The name that ends before a token, with the names and dots before it; empty if none does."""
    first = at
    while is_kind(tokens, first - 1, TokenType.VAR, TokenType.IDENTIFIER):
        first -= 1
        if not is_kind(tokens, first - 1, TokenType.DOT):
            break
        first -= 1
    return source.text[tokens[first].start : tokens[at - 1].end + 1] if first < at else ""


_VALUE = "write the value itself; a program that makes the text can put it there"
_RENDERED = "render the text first, as dbt and Jinja do, or write what stands for it"


def _begins_parameter(tokens: Tokens, at: int) -> bool:
    """Whether `:name` begins here, which follows no value."""
    behind = is_operand(tokens, at - 1) or is_kind(tokens, at - 1, TokenType.LT, TokenType.GT, TokenType.COLON)
    is_colon = is_kind(tokens, at, TokenType.COLON) and is_kind(tokens, at + 1, TokenType.VAR)
    touches = is_colon and tokens[at + 1].start == tokens[at].end + 1
    return touches and (
        not behind or (is_kind(tokens, at - 2, TokenType.COLUMN, TokenType.VAR) and tokens[at - 1].text in "<>")
    )


def _foreign_parameter(source: QueryText, tokens: Tokens, at: int) -> Span | None:
    """Where `$1`, `@name`, `%s` or `%(name)s` stands as a value; None where none of them begins."""
    token = tokens[at]
    if is_operand(tokens, at - 1) or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return None
    found = re.match(r"\$\d+|@\w+(?!\s*:=)|%s\b|%\(\w+\)s\b", source.text[token.start :])
    return (token.start, token.start + found.end()) if found else None


def _begins_template(tokens: Tokens, at: int) -> bool:
    """Whether `{{` or `{%` begins here."""
    return is_kind(tokens, at, TokenType.L_BRACE) and is_kind(tokens, at + 1, TokenType.L_BRACE, TokenType.MOD)


def _stands_alone(tokens: Tokens, at: int) -> bool:
    """Whether it is alone in parentheses behind a value."""
    return (
        is_kind(tokens, at - 1, TokenType.L_PAREN)
        and is_kind(tokens, at + 1, TokenType.R_PAREN)
        and is_operand(tokens, at - 2)
    )


def _refuse_foreign(source: QueryText, tokens: Tokens, index: int) -> None:
    follows = is_operand(tokens, index - 1)
    for words, instead in _FOREIGN.items():
        end = index + len(words.split())
        if end > len(tokens) or not all(map(is_word, tokens[index:end], words.split())):
            continue
        opens = end < len(tokens) and tokens[end].token_type is TokenType.L_PAREN
        if (
            words in _ANYWHERE
            or (words in _BEFORE_PARENTHESIS and follows and opens)
            or (words in _BETWEEN_VALUES and follows and (opens or is_operand(tokens, end)))
        ):
            if words in _BETWEEN_VALUES:
                instead = _in_own_words(tokens, index, end, instead)
            raise source.error(f"{words} is not supported", span_of(tokens[index:end]), instead, NotSupported)


def _in_own_words(tokens: Tokens, at: int, end: int, instead: str) -> str:
    """The advice with the two values that stand beside the word, where each is one token and the advice is of `a` and a text `b`."""
    if "%" not in instead or not is_kind(tokens, at - 1, TokenType.VAR) or not is_kind(tokens, end, TokenType.STRING):
        return instead
    return instead.replace("a LIKE", f"{tokens[at - 1].text} LIKE").replace("b", tokens[end].text, 1)


def _refuse_signs(source: QueryText, pair: Tokens) -> None:
    """Two tokens that touch, and are one sign elsewhere."""
    first = pair[0]
    sign, made = first.text, pair[:1]
    if len(pair) == 2 and pair[1].start == first.end + 1 and first.token_type is not TokenType.STRING:
        if pair[1].token_type is TokenType.STRING and sign.upper() in _PREFIXES and is_word(first, sign.upper()):
            problem = f"a text that begins with {sign}' is not supported"
            raise source.error(problem, span_of(pair), _PREFIXES[sign.upper()], NotSupported)
        sign, made = (sign, made) if sign in _SIGNS else (sign + pair[1].text, pair)
    if sign in _SIGNS and not {token.token_type for token in made} & {TokenType.STRING, TokenType.IDENTIFIER}:
        of_arrays = (
            sign == "&&" and len(pair) == 2 and (is_word(pair[1], "ARRAY") or pair[1].text.startswith(("{", "[")))
        )
        raise source.error(f"there is no operator {sign}", span_of(made), _OVERLAP if of_arrays else _SIGNS[sign])


def _refuse_reserved(source: QueryText, tokens: Tokens, at: int, word: str) -> None:
    """A word of the grammar that is meant as a name: after AS, after a dot, or without the BY that it needs."""
    token, within = tokens[at], bare_word(tokens, at - 1) == "WITHIN"
    if word in (*_RESERVED, "ORDER", "GROUP") and (meant := _table_meant(source, tokens, at)):
        raise source.error(f"{word} is a reserved word", span_of([token]), f"did you mean {meant}?")
    named = is_kind(tokens, at - 1, TokenType.DOT) or bare_word(tokens, at - 1) == "AS"
    named = named and bare_word(tokens, at + 1) != "MATERIALIZED"
    listed = is_kind(tokens, at - 1, TokenType.COMMA) or bare_word(tokens, at - 1) in ("SELECT", "DISTINCT")
    alone = word in ("ORDER", "GROUP") and not within
    if alone and not listed and not named:
        raise source.error(f"{word} without BY", span_of([token]), f'write {word} BY, or "{token.text}" as a name')
    if (word.split()[0] in _RESERVED and named and not is_kind(tokens, at + 1, TokenType.L_PAREN)) or alone:
        raise source.error(f"{word} is a reserved word", span_of([token]), f'as a name write "{token.text}"')


def _table_meant(source: QueryText, tokens: Tokens, at: int) -> str:
    """The table of the text that is called much as the word behind FROM or JOIN; empty if there is none."""
    is_table = bare_word(tokens, at - 1) in ("FROM", "JOIN") and bare_word(tokens, at - 2) != "DISTINCT"
    if not is_table or is_kind(tokens, at + 1, TokenType.L_PAREN):
        return ""
    created = {name.lower(): name for name in _CREATED.findall(source.text)}
    return next((created[name] for name in get_close_matches(tokens[at].text.lower(), created, 1)), "")


def _refuse_trailing(source: QueryText, tokens: Tokens, at: int) -> None:
    """sqlglot would read `SELECT a, FROM t` as `SELECT a FROM t`."""
    ends = at + 1 == len(tokens) or is_kind(tokens, at + 1, TokenType.R_PAREN, TokenType.COMMA)
    if ends or bare_word(tokens, at + 1) in {*_AFTER_A_LIST, "SELECT"}:
        raise source.error("nothing follows this comma", span_of([tokens[at]]), "remove it")


def _refuse_clause(source: QueryText, tokens: Tokens, at: int, word: str) -> None:
    for words in (word, f"{word} {bare_word(tokens, at + 1)}"):
        if words in _REFUSED and (words not in _ONLY_THERE or _ONLY_THERE[words](tokens, at)):
            count = next((token.text for token in tokens[at + 1 : at + 3] if token.text.isdigit()), "10")
            problem = _REFUSED[words].replace("LIMIT 10", f"LIMIT {count}")
            raise source.error(problem, span_of(tokens[at : at + len(words.split())]), kind=NotSupported)


def _refuse_flatten(source: QueryText, tokens: Tokens, at: int) -> None:
    """Snowflake's `LATERAL FLATTEN(input => array)` and `TABLE(FLATTEN(array))`."""
    first = at - 1 if bare_word(tokens, at - 1) == "LATERAL" else at - 2
    end = matching(tokens, at + 1) if is_kind(tokens, at + 1, TokenType.L_PAREN) else None
    if end is None or bare_word(tokens, first) not in ("LATERAL", "TABLE"):
        return
    array = _first_argument(source, tokens, at + 1) or "array"
    name = _alias_behind(tokens, end + 1) or "u"
    advice = f"write CROSS JOIN UNNEST({array}) AS {name} (value)"
    if re.fullmatch(r"[\w.\"`]+", array):  # a column, whose type is not known here
        field = re.search(rf"\b{re.escape(name)}\s*\.\s*value\s*[:.]\s*(\w+)", source.text)
        advice = f"write CROSS JOIN UNNEST({array}) AS {name} and {name}.{field[1] if field else 'field'} where its elements are ROWs"
        advice += f", AS {name} (value) where they are not, or AS {name} (key, value) of a MAP"
    raise source.error("FLATTEN is not supported", span_of(tokens[at : end + 1]), advice, NotSupported)


def _alias_behind(tokens: Tokens, at: int) -> str:
    """The alias from the token `at` on, which may stand behind a parenthesis and AS; empty if there is none."""
    at += is_kind(tokens, at, TokenType.R_PAREN)
    at += bare_word(tokens, at) == "AS"
    return tokens[at].text if is_kind(tokens, at, TokenType.VAR) else ""


def _first_argument(source: QueryText, tokens: Tokens, opens: int) -> str:
    """What stands first between the parentheses, of the name `input` if it has one, up to a comma that is between no others."""
    end = matching(tokens, opens)
    at = begins = opens + 1
    while at != end and not is_kind(tokens, at, TokenType.COMMA):
        at = 1 + (matching(tokens, at) or at if is_kind(tokens, at, TokenType.L_PAREN) else at)
    written = source.text[tokens[begins].start : tokens[at - 1].end + 1] if at > begins else ""
    return re.sub(r"(?is)^input\s*=>\s*", "", written)


def refuse_json(source: QueryText, word: str, span: Span) -> None:
    """Refuse a call that makes JSON text; what stands between its parentheses follows rules of its own.

    Raises:
        NotSupported: it is one, with what to write instead.
    """
    if word in _JSON_INSTEAD:
        problem = f"{word} is not supported"
        if word == "JSON_QUERY":
            problem = (
                f"{word}, NULL for all but objects and arrays, is not supported: "
                "Spark cannot tell them from a text that looks like one"
            )
        raise source.error(problem, span, _JSON_INSTEAD[word], NotSupported)


def refuse_on(source: QueryText, tokens: Tokens, word: str) -> None:
    """Refuse ON EMPTY and ON ERROR among the last tokens of a call that looks into JSON.

    Raises:
        NotSupported: one of them is there.
    """
    at = next((at for at, token in enumerate(tokens) if at and is_word(token, "ON")), None)
    if at is not None:
        raise source.error(
            f"ON EMPTY and ON ERROR are not supported: {_MEANT[word]}",
            span_of(tokens[at - 1 :]),
            f"leave it out, and write {_OTHERWISE[word]}",
            NotSupported,
        )
