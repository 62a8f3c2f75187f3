"""Our dialect: sqlglot's parser, which takes no function for one of its own, with the syntax of Flink, Postgres and Spark that we have.

A call stays a call with its name and place, whatever sqlglot knows of that name. What has a syntax of its own (CAST, EXTRACT, INTERVAL
...) becomes a call too, whose name the binder knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.errors import ErrorLevel
from sqlglot.parser import IsPredicatePrecedence, Parser
from sqlglot.tokenizer_core import Token, TokenType

from ouzel.compiler.functions.foreign_patterns import java_pattern
from ouzel.compiler.sql.expressions.literals import UNITS
from ouzel.compiler.sql.syntax.frames import FRAME, read_frame
from ouzel.compiler.sql.syntax.refusals import refuse_json, refuse_on
from ouzel.compiler.sql.syntax.source import QueryText, Tokens, closing_behind, matching, span_of
from ouzel.compiler.sql.syntax.type_names import read_type, read_type_at
from ouzel.compiler.sql.syntax.words import KEYWORDS, bare_word, is_bare, is_kind, is_word
from ouzel.compiler.types import DataType
from ouzel.errors import NotSupported

LITERAL = "literal "
"""Prefix of a typed literal's type: `DATE '2013-01-01'` is the call `literal date`."""
_TYPE = "ouzel.type"
"""Where the node of a type keeps it."""
_TYPED = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIMESTAMPTZ", "TIME"})
_ZONES = ("WITH", "WITHOUT", "LOCAL", "TIME", "ZONE")
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_CALLED = (*_NAMES, TokenType.LEFT, TokenType.RIGHT)
_TRIM_SIDES = ("LEADING", "TRAILING", "BOTH")
_TRIMMED = (*_NAMES, TokenType.STRING, TokenType.L_PAREN, TokenType.FROM, TokenType.CASE)

_WINDOWS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
_USUAL = {"JSON_VALUE": "NULL", "JSON_EXISTS": "FALSE"}
"""What these calls give ON EMPTY and ON ERROR in any case."""

_Read = tuple[str, Sequence[exp.Expr]]
"""A call as it was read: its name for the binder, and its arguments."""


class QueryParser(Parser):
    """Parses one query or expression.

    IS binds looser than comparisons, which are all of one level. See `precedence.py` for what must be said in parentheses.
    Methods named `_parse_...` are sqlglot's, read otherwise; a test notices when sqlglot gives one of them another name.
    """

    IS_PREDICATE_PRECEDENCE = IsPredicatePrecedence.LOW
    EQUALITY: ClassVar = {**Parser.EQUALITY, **Parser.COMPARISON}
    COMPARISON: ClassVar = {}
    PRIMARY_PARSERS: ClassVar = {
        **Parser.PRIMARY_PARSERS,
        TokenType.NULL: lambda self, token: exp.Null().update_positions(token),
        TokenType.TRUE: lambda self, token: exp.Boolean(this=True).update_positions(token),
        TokenType.FALSE: lambda self, token: exp.Boolean(this=False).update_positions(token),
    }
    """These words have a place in the text, too: what is said of `NOT TRUE` is said of it, and not of what stands beside it."""
    UNARY_PARSERS: ClassVar = {
        **Parser.UNARY_PARSERS,
        TokenType.DASH: lambda self: self.read_minus(),
    }
    """A minus is part of what is underlined."""
    FUNCTIONS: ClassVar = {word: Parser.FUNCTIONS[word] for word in KEYWORDS if word in Parser.FUNCTIONS}
    FUNCTION_PARSERS: ClassVar = {}
    NO_PAREN_FUNCTIONS: ClassVar = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {word: Parser.NO_PAREN_FUNCTION_PARSERS[word] for word in ("ANY", "CASE")}
    ARRAY_CONSTRUCTORS: ClassVar = {}
    HISTORICAL_DATA_PREFIX: ClassVar[set[str]] = set()
    OPTIONAL_ALIAS_TOKEN_CTE: ClassVar[bool] = False
    JOINS_HAVE_EQUAL_PRECEDENCE: ClassVar[bool] = True  # `FROM a, b` is a CROSS JOIN

    def __init__(self, source: QueryText) -> None:
        super().__init__(error_level=ErrorLevel.IMMEDIATE, error_message_context=len(source.text))
        self.source = source
        self.frame: exp.WindowSpec | None = None
        self.condition_at = -1

    def read_minus(self) -> exp.Expr:
        """What stands behind a minus, negated."""
        sign = self._prev
        node = exp.Neg(this=self._parse_unary())
        node.meta.update(start=sign.start, end=self._prev.end)
        return self.expression(node)

    # Calls

    def _parse_function(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        name, opens = self._curr, self._next.token_type
        if name.token_type in _CALLED and opens is TokenType.L_PAREN:
            return self._read_call(of_rows=not optional_parens)  # sqlglot asks so where a table stands
        if opens is TokenType.L_BRACKET and is_word(name, "ARRAY", "MAP") and name.token_type is TokenType.VAR:
            self._advance(2)
            elements = self._parse_csv(self._parse_disjunction)
            if not self._match(TokenType.R_BRACKET):
                self.raise_error("Expecting ]")
            return _call(name.text, elements, (name.start, self._prev.end))
        return self._parse_function_call(functions, anonymous, optional_parens, any_token)

    def _read_call(self, of_rows: bool) -> exp.Expr | None:
        """A call, whose place is all of it, for errors; one that gives rows may take a TABLE."""
        name = self._curr
        word = name.text.upper() if name.token_type is not TokenType.IDENTIFIER else ""
        closing = matching(self._tokens, self._index + 1)
        last = name if closing is None else self._tokens[closing]
        refuse_json(self.source, word, (name.start, last.end + 1))
        self._advance(2)
        if of_rows or word in _WINDOWS:
            self._skip_table()
        if word == "DESCRIPTOR":
            column = self._parse_disjunction()
            self._match_r_paren()
            return column
        if (read := _SPECIAL.get(word)) is not None:
            called, arguments = read(self, name)
        else:  # an alias among the arguments is named in the error, but what stands behind an unclosed call is none
            called, arguments = name.text, self._parse_function_args(alias=closing is not None)
        self._match_r_paren()
        return self._parse_window(_call(called, arguments, (name.start, last.end)))

    def _read_separated(self, name: Token, *words: str) -> _Read:
        """Arguments between commas or these words: `SUBSTRING(text FROM 2 FOR 3)`."""
        arguments = [self._parse_lambda(alias=True)]
        while self._match(TokenType.COMMA) or self._match_texts(words):
            arguments.append(self._parse_lambda(alias=True))
        return name.text, [argument for argument in arguments if argument is not None]

    def _position(self, name: Token) -> _Read:
        """`POSITION(part IN text)`."""
        part = self._parse_bitwise()
        if part is None or not (self._match(TokenType.IN) or self._match(TokenType.COMMA)):
            return name.text, [] if part is None else [part]
        return name.text, [part, *self._parse_function_args(alias=True)]

    def _with_unit(self, name: Token) -> _Read:
        """`EXTRACT(DAY FROM time)` and `TIMESTAMPDIFF(DAY, first, second)`: the unit is a text."""
        if not is_bare(self._curr):
            return self._read_separated(name, "FROM")
        unit = self._word_as_text()
        if not (self._match(TokenType.FROM) or self._match(TokenType.COMMA)):
            return name.text, [unit]
        return name.text, [unit, *self._parse_function_args(alias=True)]

    def _read_rounded(self, name: Token) -> _Read:
        """`FLOOR(time TO DAY)`, beside `FLOOR(number)`."""
        arguments = self._parse_function_args(alias=True)
        if not self._match_text_seq("TO"):
            return name.text, arguments
        return f"{name.text.upper().removesuffix('ING')} TO", [*arguments, self._word_as_text()]

    def _trim(self, name: Token) -> _Read:
        """`TRIM(LEADING '0' FROM text)`: the side is a text, and BOTH if none is written."""
        side: exp.Expr | None = None
        if is_word(self._curr, *_TRIM_SIDES) and self._next.token_type in _TRIMMED:
            side = self._word_as_text()
        first = [] if self._match(TokenType.FROM, advance=False) else self._parse_function_args(alias=True)
        if not self._match(TokenType.FROM):
            return name.text, first if side is None else [side, *first]
        side = side or exp.Literal.string("BOTH")
        return "TRIM FROM", [side, *first, *self._parse_function_args(alias=True)]

    def _word_as_text(self) -> exp.Expr:
        self._advance()
        return exp.Literal.string(self._prev.text).update_positions(self._prev)

    # Types

    def _cast(self, name: Token) -> _Read:
        """`CAST(value AS type)`: the type is the second argument."""
        start = self._index - 2
        closing = matching(self._tokens, start + 1)
        if closing is not None and not any(is_word(token, "AS") for token in self._tokens[start : closing - 1]):
            word = name.text.upper()
            whole = span_of(self._tokens[start : closing + 1])
            raise self.source.error(f"{word} does not say to which type", whole, f"write {word}(value AS INT)")
        parts = [self._parse_lambda()]
        if self._match(TokenType.ALIAS):
            parts.append(self._parse_dcolon() if closing is None else self._type(closing))
        return name.text, [part for part in parts if part is not None]

    def _type(self, end: int) -> exp.Expr:
        """The type that stands before the token at `end`."""
        tokens = self._tokens[self._index : end]
        if len(tokens) > 2 and is_word(tokens[-2], "FORMAT"):
            pattern = java_pattern(tokens[-1].text, oracle=True)
            advice = (
                f"write DATE_FORMAT(time, '{pattern}')"
                if pattern
                else "write DATE_FORMAT(time, pattern) or TO_TIMESTAMP(text, pattern)"
            )
            raise self.source.error("FORMAT in a CAST is not supported", span_of(tokens[-2:]), advice, NotSupported)
        kind = read_type(self.source, tokens)
        self._advance(end - self._index)
        return _type_node(kind, tokens)

    def _parse_dcolon(self) -> exp.Expr | None:
        """The type behind `::`."""
        if not is_bare(self._curr):
            return None
        start = self._index
        kind, end = read_type_at(self.source, self._tokens, start)
        self._advance(end - start)
        return _type_node(kind, self._tokens[start:end])

    def _parse_type(self, parse_interval: bool = True, fallback_to_identifier: bool = False) -> exp.Expr | None:
        """A literal with its type, or what has none."""
        if self._curr.token_type is TokenType.INTERVAL:
            return self._parse_column_ops(self._interval())
        if self._curr.token_type is TokenType.VAR and self._curr.text.upper() in _TYPED:
            literal = self._typed_literal()
            if literal is not None:
                return self._parse_column_ops(literal)
        if self._prev.token_type is TokenType.FARROW:
            self._skip_table()
        return self._parse_atom() or self._parse_column()

    def _typed_literal(self) -> exp.Expr | None:
        """`DATE '2013-01-01'`, `TIMESTAMP WITH LOCAL TIME ZONE '...'`."""
        first, index = self._curr, self._index
        self._advance()
        if is_word(self._curr, "WITH", "WITHOUT"):
            while self._match_texts(_ZONES):
                pass
        if self._curr.token_type is not TokenType.STRING:
            self._retreat(index)
            return None
        words = " ".join(token.text for token in self._tokens[index : self._index]).lower()
        self._advance()
        return _call(LITERAL + words, [_text(self._prev)], (first.start, self._prev.end))

    def _interval(self) -> exp.Expr:
        """`INTERVAL '1:30' HOUR TO MINUTE`."""
        first = self._curr
        self._advance()
        sign = "-" if self._match(TokenType.DASH) else ""
        self._advance()
        arguments = [_text(self._prev, sign)]
        while is_word(self._curr, *UNITS):
            arguments.append(self._word_as_text())
            # INTERVAL '10' DAY(3): the precision says nothing.
            if self._match_pair(TokenType.L_PAREN, TokenType.NUMBER):
                self._match_r_paren()
            if not self._match_text_seq("TO"):
                break
        return _call(f"{LITERAL}interval", arguments, (first.start, self._prev.end))

    # JSON

    def _json(self, name: Token) -> _Read:
        """`JSON_VALUE(text, path RETURNING type)` is TRY_CAST of it AS type: what is no such value is NULL."""
        closing, word = matching(self._tokens, self._index - 1), name.text.upper()
        last = name if closing is None else self._tokens[closing]
        called = name.text
        arguments = [_without_mode(argument) for argument in self._parse_function_args(alias=True)]
        if self._match_text_seq("RETURNING"):
            kind, span = self._parse_dcolon(), span_of([self._prev])
            if kind is None:
                raise self.source.error("RETURNING does not say which type", span, "write RETURNING INT")
            called, arguments = "TRY_CAST", [_call(called, arguments, (name.start, last.end)), kind]
        while self._match_text_seq(_USUAL[word], "ON"):  # says what is so anyway
            self._advance()
        refuse_on(self.source, self._tokens[self._index : closing or self._index], word)
        return called, arguments

    # Tables

    def _read_windowed(self, name: Token) -> _Read:
        """The arguments of TUMBLE and its like: `SESSION(t PARTITION BY a, b, DESCRIPTOR(ts), gap)` has one more, `partition by(a, b)`."""
        arguments = self._parse_function_args(alias=True)
        while self._match(TokenType.PARTITION_BY):
            arguments += self._partition(name, self._prev)
        return name.text, arguments

    def _partition(self, name: Token, begins: Token) -> list[exp.Expr]:
        """The keys as one argument, and the arguments behind them."""
        if not is_word(name, "SESSION"):
            raise self.source.error(
                f"{name.text.upper()} takes no PARTITION BY: its windows are the same for all keys",
                span_of([begins]),
                "leave it out, and GROUP BY the keys beside window_start and window_end",
            )
        items: list[tuple[Token, exp.Expr, Token]] = []
        while not items or self._match(TokenType.COMMA):
            first, item = self._curr, self._parse_lambda(alias=True)
            if item is None:
                break
            items.append((first, item, self._prev))
        named = [at for at, (first, _, _) in enumerate(items) if at and is_word(first, "DESCRIPTOR", "TIMECOL")]
        count = (named or [max(1, len(items) - 2)])[0]
        last = items[count - 1][2] if items else begins
        parts = [item for _, item, _ in items]
        return [_call("PARTITION BY", parts[:count], (begins.start, last.end)), *parts[count:]]

    def _skip_table(self) -> None:
        """`TABLE t` is `t`, `TABLE 'path'` is `'path'` and `TABLE (SELECT ...)` is `(SELECT ...)`, where a table can stand."""
        asked = is_kind(self._tokens, self._index + 1, TokenType.L_PAREN) and bare_word(
            self._tokens, self._index + 2
        ) in ("SELECT", "WITH")
        if (asked or self._next.token_type in (*_NAMES, TokenType.STRING)) and is_word(self._curr, "TABLE"):
            self._advance()

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        self._skip_table()
        table = super()._parse_table(*args, **kwargs)
        if isinstance(table, exp.AtIndex):  # `t AS a AT b`
            self.raise_error("Unexpected AT", self._tokens[self._index - 2])
        return table

    def _parse_table_part(self, schema: bool = False) -> exp.Expr | None:
        """`TABLE(TUMBLE(...))` is `TUMBLE(...)`."""
        if self._next.token_type is TokenType.L_PAREN and is_word(self._curr, "TABLE"):
            self._advance(2)
            part = super()._parse_table_part(schema)
            self._match_r_paren()
            return part
        return super()._parse_table_part(schema)

    def _parse_derived_table_values(self, allow_value_synonym: bool = False) -> exp.Values | None:
        values = self._next if self._curr.token_type is TokenType.L_PAREN else self._curr
        return super()._parse_derived_table_values() if values.token_type is TokenType.VALUES else None

    def _parse_lateral(self) -> exp.Lateral | None:
        """LATERAL says nothing before UNNEST."""
        if self._match_pair(TokenType.LATERAL, TokenType.UNNEST, advance=False):
            self._advance()
            return None
        return super()._parse_lateral()

    def _parse_comparison(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """MATCH_CONDITION holds a whole condition; sqlglot asks for a comparison behind its parenthesis, and for another inside that."""
        index = self._index
        if index > 1 and index != self.condition_at and is_kind(self._tokens, index - 2, TokenType.MATCH_CONDITION):
            self.condition_at = index
            return self._parse_disjunction()
        return super()._parse_comparison(this)

    # Clauses

    def _parse_cte(self) -> exp.CTE | exp.FunctionSpecification | None:
        """Without `AS [NOT] MATERIALIZED`, which says nothing about what the query answers."""
        cte = super()._parse_cte()
        if cte is None:
            self.raise_error("Expected AS")
        else:
            cte.set("materialized", None)
        return cte

    def _parse_limit(
        self, this: exp.Expr | None = None, top: bool = False, skip_limit_token: bool = False
    ) -> exp.Expr | None:
        """LIMIT ALL is no bound, as in Postgres."""
        if self._curr.token_type is TokenType.LIMIT and is_word(self._next, "ALL", "NULL"):
            self._advance(2)
            return this
        return super()._parse_limit(this, top, skip_limit_token)

    def _can_parse_limit_or_offset(self) -> bool:
        """Behind a table, LIMIT ALL is that too, and not an alias."""
        is_limit = self._curr.token_type is TokenType.LIMIT and is_word(self._next, "ALL", "NULL")
        return is_limit or super()._can_parse_limit_or_offset()

    def _parse_partition_and_order(self) -> tuple[list[exp.Expr], exp.Expr | None]:
        """PARTITION BY and ORDER BY of a window, and its frame."""
        parts = super()._parse_partition_and_order()
        if self._curr.token_type is TokenType.ROWS and (end := closing_behind(self._tokens, self._index)):
            tokens = self._tokens[self._index : end]
            self.frame = exp.WindowSpec(kind=tokens[0].text.upper())
            self.frame.meta["start"], self.frame.meta["end"] = tokens[0].start, tokens[-1].end
            self.frame.meta[FRAME] = read_frame(self.source, tokens)
            self._advance(len(tokens))
        return parts

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        window = super()._parse_window(this, alias)
        if self.frame is not None and isinstance(window, exp.Window):
            window.set("spec", self.frame)
            self.frame = None
        return window


def spelled_type(node: exp.Expr) -> DataType:
    """The type that stands there, of a cast."""
    kind: DataType = node.meta[_TYPE]
    return kind


def _type_node(kind: DataType, tokens: Tokens) -> exp.Expr:
    node = exp.Var(this=str(kind))
    node.meta.update({"start": tokens[0].start, "end": tokens[-1].end, _TYPE: kind})
    return node


def _call(name: str, arguments: Sequence[exp.Expr], ends: tuple[int, int]) -> exp.Anonymous:
    """A call whose first and last character stand at `ends`."""
    call = exp.Anonymous(this=name, expressions=list(arguments))
    call.meta["start"], call.meta["end"] = ends
    return call


def _without_mode(path: exp.Expr) -> exp.Expr:
    """`'lax $.a'` and `'strict $.a'` are `'$.a'`: where the path is not there is nothing, or an error that gives nothing."""
    if path.is_string and path.name.lower().startswith(("lax $", "strict $")):
        path.set("this", path.name.partition(" ")[2].lstrip())
    return path


def _text(token: Token, sign: str = "") -> exp.Expr:
    return exp.Literal.string(sign + token.text).update_positions(token)


_SPECIAL: dict[str, Callable[[QueryParser, Token], _Read]] = {
    **dict.fromkeys(("CAST", "TRY_CAST"), QueryParser._cast),
    **dict.fromkeys(("EXTRACT", "TIMESTAMPDIFF", "TIMESTAMPADD"), QueryParser._with_unit),
    **dict.fromkeys(("CEIL", "CEILING", "FLOOR"), QueryParser._read_rounded),
    **dict.fromkeys(("SUBSTRING", "SUBSTR"), lambda parser, name: parser._read_separated(name, "FROM", "FOR")),
    "OVERLAY": lambda parser, name: parser._read_separated(name, "PLACING", "FROM", "FOR"),
    "POSITION": QueryParser._position,
    "TRIM": QueryParser._trim,
    **dict.fromkeys(_USUAL, QueryParser._json),
    **dict.fromkeys(_WINDOWS, QueryParser._read_windowed),
}
"""Calls with words between their arguments."""
