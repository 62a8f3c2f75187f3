"""Statement shells: what each statement of a file says, with its queries, expressions and types still as tokens."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.sql.syntax.source import Span, Tokens


@dataclass(frozen=True)
class Name:
    """An identifier; `quoted` keeps its case."""

    text: str
    quoted: bool
    span: Span


@dataclass(frozen=True)
class ColumnClause:
    """One column of CREATE TABLE: physical (a type), computed (an expression) or metadata (a key).

    The type of one that was `found` does not stand in the user's text.
    """

    name: Name
    type: Tokens = ()
    expression: Tokens = ()
    not_null: bool = False
    primary: bool = False
    metadata: str | None = None
    virtual: bool = False
    found: bool = False


@dataclass(frozen=True)
class WatermarkClause:
    """WATERMARK FOR column AS expression; `idle` is the interval's tokens, None is the default, empty is NEVER."""

    column: Name
    expression: Tokens
    idle: Tokens | None = None


@dataclass(frozen=True)
class WrittenOption:
    """One `key = value` of WITH or SET."""

    key: str
    value: str
    span: Span


@dataclass(frozen=True)
class LikeClause:
    """LIKE name (INCLUDING what, EXCLUDING what, OVERWRITING what): pairs of words in upper case, and where each stands."""

    name: Name
    words: tuple[tuple[str, str, Span], ...] = ()


@dataclass(frozen=True)
class CreateTable:
    """CREATE TABLE or CREATE SOURCE.

    Attributes:
        name: the table's name.
        columns: its columns, in order.
        watermarks: its WATERMARK clauses; more than one is an error.
        keys: the columns of each PRIMARY KEY; more than one is an error.
        options: the options behind WITH, in order.
        span: where the statement is.
        opening: the offset behind the parenthesis that opens the list of elements; 0 if there is none.
        star: where a `*` is in that list.
        like: its LIKE clause.
        query: the tokens behind AS.
        partitions: the columns of its PARTITIONED BY.
    """

    name: Name
    columns: tuple[ColumnClause, ...]
    watermarks: tuple[WatermarkClause, ...] = ()
    keys: tuple[tuple[Name, ...], ...] = ()
    options: tuple[WrittenOption, ...] = ()
    span: Span = (0, 0)
    opening: int = 0
    star: Span | None = None
    like: LikeClause | None = None
    query: Tokens = ()
    partitions: tuple[Name, ...] = ()


@dataclass(frozen=True)
class CreateView:
    """CREATE [MATERIALIZED] VIEW name (columns) AS query."""

    name: Name
    columns: tuple[Name, ...]
    query: Tokens
    replace: bool = False
    materialized: bool = False


@dataclass(frozen=True)
class Insert:
    """INSERT INTO name (columns) query."""

    name: Name
    columns: tuple[Name, ...]
    query: Tokens


@dataclass(frozen=True)
class Select:
    """A query by itself."""

    query: Tokens


@dataclass(frozen=True)
class Describe:
    """DESCRIBE of a table or view, of a path in quotes, or of a query."""

    subject: Name | Select


@dataclass(frozen=True)
class Show:
    """SHOW TABLES and its like; `pattern` is that of LIKE."""

    what: str
    pattern: str = "%"


@dataclass(frozen=True)
class SetOption:
    """SET key = value."""

    option: WrittenOption


@dataclass(frozen=True)
class Explain:
    """EXPLAIN details statement."""

    details: tuple[str, ...]
    statement: Select | Insert


@dataclass(frozen=True)
class TimeText:
    """A time as it is written, in a string."""

    text: str
    span: Span


@dataclass(frozen=True)
class ReconcileStatement:
    """RECONCILE name BETWEEN moment AND moment WITH options; `between` is empty or has two."""

    name: Name
    between: tuple[TimeText, ...] = ()
    options: tuple[WrittenOption, ...] = ()


Statement = CreateTable | CreateView | Insert | Select | SetOption | Explain | ReconcileStatement | Describe | Show


NAMING = frozenset({"BROADCAST", "BROADCASTJOIN", "MAPJOIN"})
"""Hints that hold names of tables, and no values."""


@dataclass(frozen=True)
class HintPair:
    """`'name' = 'value'` of a hint, or of one of NAMING a name alone; both are empty where it holds neither."""

    hint: str
    name: str
    value: str
    span: Span
