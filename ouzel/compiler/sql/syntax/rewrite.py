"""Rewrites the tokens of a query so that sqlglot's stock parser reads them the way the standard and Flink mean them.

sqlglot knows hundreds of functions and turns them into shapes of its own, some with arguments lost or swapped; it takes `date` or `first`
for keywords; it has no TABLE(TUMBLE(...)). So: every word that is not structure becomes a quoted identifier, every called name gets the
prefix `fn `, which no function of sqlglot has, and special syntax (CAST, EXTRACT, INTERVAL, DESCRIPTOR ...) becomes a plain call.
Every new token keeps the place of the one it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.sql.syntax.foreign import refuse_foreign
from ouzel.compiler.sql.syntax.json_calls import LOOKS_INTO_JSON, json_edits, refuse_json
from ouzel.compiler.sql.syntax.over_tokens import limit_edits, window_edits
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, depth_change, is_word, matching, span_of
from ouzel.compiler.sql.syntax.type_names import read_type
from ouzel.compiler.types import DataType
from ouzel.errors import NotSupported

CALL = "fn "
"""Prefix of a called name, as sqlglot sees it."""
LITERAL = "literal "
"""Prefix of a typed literal's type, after CALL: `DATE '2013-01-01'` is the call `fn literal date`."""

_STRUCTURE_LIST = (
    "SELECT FROM WHERE GROUP HAVING AS AND OR NOT IN IS NULL TRUE FALSE LIKE ILIKE BETWEEN CASE WHEN THEN ELSE END DISTINCT UNION "
    "INTERSECT EXCEPT ALL CROSS LEFT RIGHT FULL INNER OUTER JOIN LATERAL ON WITH ESCAPE EXISTS UNNEST FILTER BY ORDINALITY DIV IGNORE "
    "RESPECT NULLS ANY SOME"
)
_STRUCTURE = frozenset(_STRUCTURE_LIST.split())
_RESERVED_LIST = (
    "SELECT FROM WHERE GROUP ORDER HAVING AS AND OR NOT IN IS LIKE BETWEEN CASE WHEN THEN ELSE DISTINCT UNION CROSS JOIN ON WITH LIMIT "
    "INTERSECT EXCEPT FETCH UNNEST"
)
_RESERVED = frozenset(_RESERVED_LIST.split())
"""Words that cannot name a column without quotes."""
_CALLABLE_STRUCTURE = frozenset({"LEFT", "RIGHT"})
_NOT_CALLED = frozenset({"UNNEST", "EXISTS", "IN", "FILTER", "ANY", "SOME", "ALL"}) | (_STRUCTURE - _CALLABLE_STRUCTURE)
_SEPARATORS = {
    "SUBSTRING": ("FROM", "FOR"), "SUBSTR": ("FROM", "FOR"), "POSITION": ("IN",), "EXTRACT": ("FROM",), "TRIM": ("FROM",),
    "OVERLAY": ("PLACING", "FROM", "FOR"), "CEIL": ("TO",), "CEILING": ("TO",), "FLOOR": ("TO",),
}  # fmt: skip
_UNIT_FIRST = frozenset({"EXTRACT", "TIMESTAMPDIFF", "TIMESTAMPADD"})
_TYPED = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIMESTAMPTZ", "TIME"})
_AFTER_A_LIST = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "UNION", "INTERSECT", "EXCEPT", "QUALIFY", "ORDER", "LIMIT"}
)
_OF_ONE_LENGTH = frozenset({"TUMBLE", "HOP", "CUMULATE"})
_TRIM_SIDES = ("LEADING", "TRAILING", "BOTH")

_REFUSED = {
    "SORT": "SORT BY is not supported: a stream has no end to sort at",
    "LIMIT": "LIMIT of anything but a whole number is not supported: write LIMIT 10",
    "FETCH": "FETCH without FIRST n ROWS ONLY is not supported: write LIMIT 10",
    "RECURSIVE": "WITH RECURSIVE is not supported: write each step as a view, as many as there can be",
    "LATERAL": "LATERAL of anything but a subquery or UNNEST is not supported: have the function give an ARRAY, and write CROSS JOIN "
    "UNNEST(f(x))",
    "MATCH_RECOGNIZE": "MATCH_RECOGNIZE is not supported: compare a row with that before by LAG(...) OVER (PARTITION BY ... ORDER BY ts)",
    "TABLESAMPLE": "TABLESAMPLE is not supported: write a condition such as MOD(id, 10) = 0",
    "SIMILAR": "SIMILAR TO is not supported: write REGEXP_LIKE or LIKE",
    "WINDOW": "the clause WINDOW is not supported: write FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR) "
    "and GROUP BY window_start, window_end",
    "NATURAL": "NATURAL JOIN is not supported: write JOIN ... USING (columns)",
    "TOP": "TOP is not supported: write LIMIT behind the query",
}  # fmt: skip
_CHANGES_STAR = frozenset({"EXCLUDE", "EXCEPT", "REPLACE", "RENAME"})
"""`* EXCLUDE (a)`: words that are structure behind the star of a select list, and behind such a list."""
_SETS = (TokenType.GROUPING_SETS, TokenType.CUBE, TokenType.ROLLUP)
_BEGINS_A_QUERY = frozenset({"SELECT", "ALL", "DISTINCT", "VALUES", "WITH"})
_BEFORE_JOIN = frozenset({"JOIN", "LEFT", "RIGHT", "FULL", "INNER"})


@dataclass
class Rewritten:
    """Tokens for sqlglot, and the types of its casts by the offset where each type is written."""

    tokens: list[Token]
    types: dict[int, DataType] = field(default_factory=dict)


def rewrite_query(source: QueryText, tokens: Tokens) -> Rewritten:
    """The query's tokens in sqlglot's terms.

    Raises:
        NotSupported: a construct outside the subset, at its place.
        QueryError: a CAST to a type that does not exist.
    """
    refuse_foreign(source, tokens)
    return _Rewriter(source, _without_materialized(tokens)).run()


def _without_materialized(tokens: Tokens) -> Tokens:
    """Without Postgres's `AS [NOT] MATERIALIZED (query)`, which says nothing about what the query answers."""
    kept: list[Token] = []
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        opens = after is not None and after.token_type is TokenType.L_PAREN
        if opens and is_word(token, "MATERIALIZED") and len(kept) > 1:
            negated = is_word(kept[-1], "NOT")
            if is_word(kept[-1 - negated], "AS"):
                del kept[len(kept) - negated :]
                continue
        kept.append(token)
    return tuple(kept)


class _Rewriter:
    """Marks what becomes of each token, then writes them out."""

    def __init__(self, source: QueryText, tokens: Tokens) -> None:
        self.source, self.tokens = source, tokens
        self.edits: dict[int, list[Token]] = {}
        self.types: dict[int, DataType] = {}

    def run(self) -> Rewritten:
        """All passes."""
        self.edits |= window_edits(self.source, self.tokens)
        self.edits |= limit_edits(self.tokens, self.edits)
        for index, token in enumerate(self.tokens):
            if index not in self.edits and _is_bare_word(token):
                self._word(index, token.text.upper().split()[0])
            elif token.token_type is TokenType.IDENTIFIER and self._calls(index):
                self._rename(index, token.text)
            elif token.token_type is TokenType.DCOLON:
                self._postfix_cast(index)
            elif token.token_type is TokenType.COMMA:
                self._refuse_trailing(index)
        out: list[Token] = []
        for index, token in enumerate(self.tokens):
            out += self.edits.get(index, (token,))
        return Rewritten(out, self.types)

    def _word(self, index: int, word: str) -> None:
        if word in _CHANGES_STAR and self._follows_star(index):
            return
        self._refuse(index, word)
        called = self._next_is(index, TokenType.L_PAREN)
        if word in ("ARRAY", "MAP") and self._next_is(index, TokenType.L_BRACKET):
            self._bracket(index, word)
        elif word == "INTERVAL" and self._next_is(index, TokenType.STRING, TokenType.NUMBER, TokenType.DASH):
            self._interval(index)
        elif word in _TYPED and self._rewrite_typed_literal(index):
            pass
        elif word == "TABLE":
            self._table(index)
        elif (word in ("SEMI", "ANTI") and self._next_word(index, "JOIN")) or (word == "USING" and called):
            pass  # structure there, a name elsewhere
        elif word == "ASOF" and self._word_at(index + 1) in _BEFORE_JOIN:
            pass
        elif word == "FOR" and self._next_word(index, "SYSTEM_TIME"):  # AS OF follows
            self.edits.update({at: [self.tokens[at]] for at in range(index, min(index + 4, len(self.tokens)))})
        elif word == "WITHIN" and self._next_word(index, "GROUP"):
            self.edits.update({at: [self.tokens[at]] for at in (index, index + 1)})
        elif word == "MATCH_CONDITION" and called:
            self._match_condition(index)
        elif word == "MINUS" and self._word_at(index + 1 + called) in _BEGINS_A_QUERY:
            self.edits[index] = [_like(self.tokens[index], TokenType.EXCEPT, "EXCEPT")]
        elif called and (word == "VALUES" or self.tokens[index].token_type in _SETS):
            pass
        elif called and self._calls(index) and (word not in _NOT_CALLED):
            self._call(index, word)
        elif word not in _STRUCTURE or (word == "FILTER" and not called):
            self.edits[index] = [_as(self.tokens[index], TokenType.IDENTIFIER)]

    def _follows_star(self, index: int) -> bool:
        """Whether the star of a select list stands before the word, or before the lists of such words."""
        at = index - 1
        while at > 0 and self.tokens[at].token_type is TokenType.R_PAREN:
            depth = 0
            while at > 0 and (depth := depth + depth_change(self.tokens[at])):
                at -= 1
            at = at - 2 if self._word_at(at - 1) in _CHANGES_STAR else 0
        if at <= 0 or self.tokens[at].token_type is not TokenType.STAR:
            return False
        before = self.tokens[at - 1]
        return before.token_type in (TokenType.COMMA, TokenType.DOT) or is_word(before, "SELECT", "DISTINCT", "ALL")

    def _refuse_reserved(self, index: int, word: str) -> None:
        """A word of the grammar that is meant as a name: after AS, after a dot, or without the BY that it needs."""
        token, before = self.tokens[index], self.tokens[index - 1] if index else None
        named = before is not None and (before.token_type is TokenType.DOT or is_word(before, "AS"))
        listed = before is not None and (before.token_type is TokenType.COMMA or is_word(before, "SELECT", "DISTINCT"))
        alone = word in ("ORDER", "GROUP") and token.text.upper() == word
        if alone and not listed and not named:
            advice = f'write {word} BY, or "{token.text}" as a name'
            raise self.source.error(f"{word} without BY", span_of([token]), advice)
        if (word in _RESERVED and named and not self._next_is(index, TokenType.L_PAREN)) or alone:
            raise self.source.error(f"{word} is a reserved word", span_of([token]), f'as a name write "{token.text}"')

    def _refuse(self, index: int, word: str) -> None:
        self._refuse_reserved(index, word)
        problem = _REFUSED.get(word)
        if word in ("SIMILAR", "SORT"):
            follows = {"SIMILAR": "TO", "SORT": "BY"}[word]
            words = self.tokens[index].text.upper().split()
            problem = problem if follows in words or self._next_word(index, follows) else None
        elif word == "WINDOW":
            problem = problem if self._word_at(index + 1) in ("TUMBLING", "HOPPING", "SESSION") else None
        elif word == "TOP":
            problem = problem if self._next_is(index, TokenType.NUMBER) else None
        elif word == "LATERAL" and self._next_word(index, "UNNEST"):
            problem, self.edits[index] = None, []
        elif word == "LATERAL":
            problem = None if self._next_is(index, TokenType.L_PAREN) else problem
        elif word == "NATURAL":
            problem = problem if self._word_at(index + 1) in _BEFORE_JOIN else None
        if problem:
            raise self.source.error(problem, span_of([self.tokens[index]]), kind=NotSupported)

    def _refuse_trailing(self, index: int) -> None:
        """sqlglot would read `SELECT a, FROM t` as `SELECT a FROM t`."""
        after = self._word_at(index + 1)
        needs_by = after in ("GROUP", "ORDER") and self.tokens[index + 1].text.upper() == after
        if (
            (after in _AFTER_A_LIST and not needs_by)
            or self._next_is(index, TokenType.R_PAREN, TokenType.COMMA)
            or index + 1 == len(self.tokens)
        ):
            raise self.source.error("nothing follows this comma", span_of([self.tokens[index]]), "remove it")

    def _call(self, index: int, word: str) -> None:
        closing = matching(self.tokens, index + 1)
        if closing is None or self._names_a_cte(closing):
            self.edits[index] = [_as(self.tokens[index], TokenType.IDENTIFIER)]
            return
        refuse_json(self.source, word, self.tokens[index : closing + 1])
        self._rename(index, self.tokens[index].text)
        if word in ("CAST", "TRY_CAST"):
            self._cast(index, closing)
        elif word == "DESCRIPTOR":
            self.edits[index] = self.edits[index + 1] = self.edits[closing] = []
        elif word in _SEPARATORS:
            self._separate(index, closing, word)
        elif word in LOOKS_INTO_JSON:
            self._json_value(index, closing)
        elif word == "SESSION":
            self._partition(index, closing)
        elif word in _OF_ONE_LENGTH:
            self._refuse_partition(index, closing)
        if word in _UNIT_FIRST and _is_bare_word(self.tokens[index + 2]):
            self.edits[index + 2] = [_as(self.tokens[index + 2], TokenType.STRING)]

    def _partition(self, index: int, closing: int) -> None:
        """`SESSION(t PARTITION BY a, b, DESCRIPTOR(ts), gap)` has one more argument, `partition by(a, b)`."""
        inside = self._top_level(index + 2, closing)
        at = next((at for at in inside if self.tokens[at].token_type is TokenType.PARTITION_BY), None)
        if at is None:
            return
        commas = [end for end in inside if end > at and self.tokens[end].token_type is TokenType.COMMA]
        named = [end for end in commas if self._word_at(end + 1) in ("DESCRIPTOR", "TIMECOL")]
        end = (named or commas[-2:] or [closing])[0]
        token, last = self.tokens[at], self.tokens[end]
        call = _make_token(TokenType.IDENTIFIER, f"{CALL}PARTITION BY", (token.start, self.tokens[end - 1].end + 1))
        self.edits[at] = [_like(token, TokenType.COMMA, ","), call, _like(token, TokenType.L_PAREN, "(")]
        self.edits[end] = [_like(last, TokenType.R_PAREN, ")"), last]

    def _refuse_partition(self, index: int, closing: int) -> None:
        parts = [
            at for at in self._top_level(index + 2, closing) if self.tokens[at].token_type is TokenType.PARTITION_BY
        ]
        if parts:
            name = self.tokens[index].text.upper()
            raise self.source.error(
                f"{name} takes no PARTITION BY: its windows are the same for all keys",
                span_of([self.tokens[parts[0]]]),
                "leave it out, and GROUP BY the keys beside window_start and window_end",
            )

    def _separate(self, index: int, closing: int, word: str) -> None:
        found = [at for at in self._outside_cases(index + 2, closing) if is_word(self.tokens[at], *_SEPARATORS[word])]
        for at in found:
            self.edits[at] = [_like(self.tokens[at], TokenType.COMMA, ",")]
            if word in ("CEIL", "CEILING", "FLOOR"):
                self._rename(index, f"{word} TO")
                self.edits[at + 1] = [_as(self.tokens[at + 1], TokenType.STRING)]
        if word == "TRIM" and found:
            self._trim_from(index, found[0])

    def _outside_cases(self, start: int, end: int) -> list[int]:
        """The places outside parentheses and CASE whose words are not those of IS DISTINCT FROM."""
        outside, depth = [], 0
        for at in self._top_level(start, end):
            depth += self._word_at(at) == "CASE"
            if not depth and self._word_at(at - 1) != "DISTINCT":
                outside.append(at)
            depth -= self._word_at(at) == "END"
        return outside

    def _json_value(self, index: int, closing: int) -> None:
        """`JSON_VALUE(text, path RETURNING type)` is `TRY_CAST(JSON_VALUE(text, path) AS type)`: what is no such value is NULL."""
        inside = self._top_level(index + 2, closing)
        edits = json_edits(self.source, self.tokens, inside, self._word_at(index))
        self.edits |= edits
        words = {self._word_at(at): at for at in reversed(inside)}
        if "RETURNING" not in words:
            return
        at = words["RETURNING"]
        token = self.tokens[at]
        if at + 1 == closing:
            raise self.source.error("RETURNING does not say which type", span_of([token]), "write RETURNING INT")
        (call,) = self.edits[index]
        cast = _like(call, TokenType.IDENTIFIER, f"{CALL}TRY_CAST")
        self.edits[index] = [cast, _like(token, TokenType.L_PAREN, "("), call]
        self.edits[at] = [_like(token, TokenType.R_PAREN, ")"), _like(token, TokenType.COMMA, ",")]
        self._type(at + 1, min((place for place in edits if place > at), default=closing))

    def _trim_from(self, index: int, separator: int) -> None:
        side = self.tokens[index + 2]
        self._rename(index, "TRIM FROM")
        if is_word(side, *_TRIM_SIDES):
            comma = [] if separator == index + 3 else [_like(side, TokenType.COMMA, ",")]
            self.edits[index + 2] = [_as(side, TokenType.STRING), *comma]
        else:
            self.edits[index + 1] = [
                self.tokens[index + 1], _like(side, TokenType.STRING, "BOTH"), _like(side, TokenType.COMMA, ","),
            ]  # fmt: skip

    def _cast(self, index: int, closing: int) -> None:
        places = [at for at in self._top_level(index + 2, closing) if is_word(self.tokens[at], "AS")]
        if not places or places[-1] + 1 == closing:
            name = self.tokens[index].text.upper()
            raise self.source.error(
                f"{name} does not say to which type",
                span_of(self.tokens[index : closing + 1]),
                f"write {name}(value AS INT)",
            )
        self.edits[places[-1]] = [_like(self.tokens[places[-1]], TokenType.COMMA, ",")]
        self._type(places[-1] + 1, closing)

    def _postfix_cast(self, index: int) -> None:
        end = min(index + 2, len(self.tokens))
        if end < len(self.tokens) and self.tokens[end].token_type is TokenType.L_PAREN:
            end = (matching(self.tokens, end) or end) + 1
        for at in range(index + 1, end):
            self.edits[at] = [self.tokens[at]]

    def _type(self, start: int, end: int) -> None:
        span = span_of(self.tokens[start:end])
        self.types[span[0]] = read_type(self.source, self.tokens[start:end])
        for at in range(start, end):
            self.edits[at] = []
        self.edits[start] = [_make_token(TokenType.STRING, "type", span)]

    def _rewrite_typed_literal(self, index: int) -> bool:
        end = index + 1
        if self._word_at(end) in ("WITH", "WITHOUT"):  # TIMESTAMP WITH LOCAL TIME ZONE '...'
            while self._word_at(end) in ("WITH", "WITHOUT", "LOCAL", "TIME", "ZONE"):
                end += 1
        if end >= len(self.tokens) or self.tokens[end].token_type is not TokenType.STRING:
            return False
        words = " ".join(token.text for token in self.tokens[index:end]).lower()
        self._replace(index, end + 1, LITERAL + words, [self.tokens[end]])
        return True

    def _interval(self, index: int) -> None:
        at = index + 1 + (self.tokens[index + 1].token_type is TokenType.DASH)
        text = self.tokens[at].text if at == index + 1 else "-" + self.tokens[at].text
        arguments = [_like(self.tokens[at], TokenType.STRING, text)]
        end = at + 1
        while self._word_at(end) in UNITS:
            arguments.append(_as(self.tokens[end], TokenType.STRING))
            end += 1
            if self._next_is(end - 1, TokenType.L_PAREN):  # INTERVAL '10' DAY(3): the precision says nothing
                end = (matching(self.tokens, end) or end) + 1
            if self._word_at(end) != "TO":
                break
            end += 1
        self._replace(index, end, LITERAL + "interval", arguments)

    def _replace(self, start: int, end: int, name: str, arguments: list[Token]) -> None:
        span = span_of(self.tokens[start:end])
        commas = [[argument, _like(argument, TokenType.COMMA, ",")] for argument in arguments]
        inner = [token for pair in commas for token in pair][:-1]
        for at in range(start, end):
            self.edits[at] = []
        opening, closing = (
            _make_token(TokenType.L_PAREN, "(", span),
            _make_token(TokenType.R_PAREN, ")", (span[1] - 1, span[1])),
        )
        self.edits[start] = [_make_token(TokenType.IDENTIFIER, CALL + name, span), opening, *inner, closing]

    def _match_condition(self, index: int) -> None:
        """Its condition is in two pairs of parentheses, for sqlglot looks for less than an expression in one."""
        token, closing = self.tokens[index], matching(self.tokens, index + 1)
        self.edits[index] = [_as(token, TokenType.MATCH_CONDITION), _like(token, TokenType.L_PAREN, "(")]
        if closing is not None:
            last = self.tokens[closing]
            self.edits[closing] = [last, last]

    def _bracket(self, index: int, word: str) -> None:
        closing = matching(self.tokens, index + 1)
        self._rename(index, word)
        self.edits[index + 1] = [_like(self.tokens[index + 1], TokenType.L_PAREN, "(")]
        if closing is not None:
            self.edits[closing] = [_like(self.tokens[closing], TokenType.R_PAREN, ")")]

    def _table(self, index: int) -> None:
        """`TABLE t` is `t`; `TABLE(TUMBLE(...))` is `TUMBLE(...)`."""
        self.edits[index] = []
        if self._next_is(index, TokenType.L_PAREN):
            closing = matching(self.tokens, index + 1)
            self.edits[index + 1] = []
            if closing is not None:
                self.edits[closing] = []

    def _rename(self, index: int, name: str) -> None:
        """Make a call's name one that sqlglot does not know; its place is the whole call, for errors."""
        closing = matching(self.tokens, index + 1)
        last = self.tokens[index if closing is None else closing]
        self.edits[index] = [_make_token(TokenType.IDENTIFIER, CALL + name, (self.tokens[index].start, last.end + 1))]

    def _calls(self, index: int) -> bool:
        """Whether the word at `index` is a call's name, not an alias with columns such as `AS u(a, b)`."""
        if not self._next_is(index, TokenType.L_PAREN):
            return False
        if index == 0:
            return True
        before = self.tokens[index - 1]
        if before.token_type in (TokenType.R_PAREN, TokenType.STRING, TokenType.NUMBER, TokenType.IDENTIFIER):
            return False
        return not is_word(before, "AS") and not (_is_bare_word(before) and self._is_name(index - 1))

    def _is_name(self, index: int) -> bool:
        return self.tokens[index].text.upper().split()[0] not in _STRUCTURE | {
            "TABLE",
            "TO",
            "FOR",
            "PLACING",
            "PARTITION",
            "ORDER",
            "QUALIFY",
            *_TRIM_SIDES,
        }

    def _names_a_cte(self, closing: int) -> bool:
        return self._word_at(closing + 1) == "AS" and self._next_is(closing + 1, TokenType.L_PAREN)

    def _top_level(self, start: int, end: int) -> list[int]:
        depth, found = 0, []
        for at in range(start, end):
            depth += depth_change(self.tokens[at])
            if depth == 0:
                found.append(at)
        return found

    def _next_is(self, index: int, *kinds: TokenType) -> bool:
        return index + 1 < len(self.tokens) and self.tokens[index + 1].token_type in kinds

    def _next_word(self, index: int, word: str) -> bool:
        return self._word_at(index + 1) == word

    def _word_at(self, index: int) -> str:
        if index < len(self.tokens) and _is_bare_word(self.tokens[index]):
            return self.tokens[index].text.upper().split()[0]
        return ""


UNITS = frozenset(
    unit + plural
    for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
    for plural in ("", "S")
)
"""Units of INTERVAL and of EXTRACT that have a length."""


def _is_bare_word(token: Token) -> bool:
    quoted = token.token_type in (TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.HEX_STRING)
    return not quoted and (token.text[:1].isalpha() or token.text[:1] in "_$")


def _as(token: Token, kind: TokenType) -> Token:
    return _like(token, kind, token.text)


def _like(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)


def _make_token(kind: TokenType, text: str, span: Span) -> Token:
    return Token(kind, text, 1, 1, span[0], span[1] - 1)
