"""From tokens to statement shells, by the lark grammar in `statements.lark`."""

from __future__ import annotations

import bisect
import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import lark

from ouzel.compiler.sql.statements.showing import is_listing, read_listing
from ouzel.compiler.sql.syntax.foreign_columns import refuse_foreign_columns
from ouzel.compiler.sql.syntax.foreign_copy import of_copy, of_written_file
from ouzel.compiler.sql.syntax.foreign_streams import of_sink, of_stream
from ouzel.compiler.sql.syntax.foreign_tables import of_foreign_table
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, is_word, span_of
from ouzel.compiler.sql.syntax.statements import (
    NAMING,
    ColumnClause,
    CreateTable,
    CreateView,
    Explain,
    HintPair,
    Insert,
    LikeClause,
    Name,
    ReconcileStatement,
    Select,
    SetOption,
    Statement,
    TimeText,
    WatermarkClause,
    WrittenOption,
)  # fmt: skip
from ouzel.compiler.sql.syntax.terminals import TerminalLexer, terminals
from ouzel.compiler.sql.syntax.words import is_text
from ouzel.errors import NotSupported, QueryError

_DETAILS = ("logical", "topology", "state", "packing", "json")
_STATEMENTS = ("CREATE", "INSERT", "SELECT", "WITH", "SET", "EXPLAIN", "EXECUTE", "RECONCILE", "DESCRIBE", "SHOW")
_SHOWN = {"LPAR": "(", "RPAR": ")", "COMMA": ",", "EQ": "=", "DOT": ".", "MINUS": "-", "GROUP": "(", "QUERY": "SELECT"}
_VAGUE = {
    "NAME": "a name", "QUOTED": "a name", "STRING": "a string", "NUMBER": "a number", "$END": "the end of the statement",
}  # fmt: skip


_GRAMMAR = Path(__file__).with_name("statements.lark")


@cache
def _parser() -> lark.Lark:
    return lark.Lark(
        _GRAMMAR.read_text(),
        parser="lalr",
        lexer=TerminalLexer,
        start=["statement", "hints"],
        propagate_positions=True,
        maybe_placeholders=False,
        cache=_tables_path(),
    )


def _tables_path() -> str | None:
    """Where lark keeps the tables, which take five times as long to build as to read: beside our bytecode, if that is kept.

    They hold for one grammar and one version of lark, which lark sees to.
    """
    path = Path(cache_from_source(str(_GRAMMAR.with_suffix(".py")))).with_suffix(".tables")
    known = os.access(path, os.R_OK)
    return str(path) if known or (os.access(path.parent, os.W_OK) and not sys.dont_write_bytecode) else None


def read_statement(source: QueryText, tokens: Tokens) -> Statement:
    """The shell of one statement.

    Raises:
        QueryError: it is not a statement.
        NotSupported: it is one that Ouzel does not have.
    """
    _refuse_foreign_statements(source, tokens)
    refuse_foreign_columns(source, tokens)
    if is_listing(tokens):
        return read_listing(source, tokens)
    tree = _parse(source, tokens, "statement")
    return _Shells(source, tokens).statement(tree)


def read_hints(source: QueryText) -> list[HintPair]:
    """All pairs of all hints of the file, in order."""
    pairs = []
    for offset, text in source.hints():
        inner = QueryText(" " * offset + text)
        tree = _parse(QueryText(source.text), inner.tokens(), "hints")
        for hint in tree.children:
            if isinstance(hint, lark.Tree):
                pairs += list(_pairs(hint))
    return pairs


def _pairs(hint: lark.Tree[Any]) -> Iterator[HintPair]:
    name = str(_trees(hint, "name")[0].children[0])
    pairs = _trees(hint, "hint_pair")
    if not pairs:
        names = _trees(hint, "hint_name") if name.upper() in NAMING else []
        yield from (HintPair(name.upper(), _name_in(one), "", _span(one)) for one in names)
        if not names:
            yield HintPair(name.upper(), "", "", _span(hint))
    for pair in pairs:
        key, _, value = pair.children
        yield HintPair(name.upper(), str(key), str(value), _span(pair))


def _name_in(hint_name: lark.Tree[Any]) -> str:
    first = hint_name.children[0]
    return str(first.children[0] if isinstance(first, lark.Tree) else first)


def _parse(source: QueryText, tokens: Tokens, start: str) -> lark.Tree[Any]:
    try:
        return _parser().parse(list(terminals(source, tokens)), start=start)
    except lark.UnexpectedToken as error:
        raise _set_time_zone(source, tokens) or _syntax_error(source, tokens, error) from None


def _syntax_error(source: QueryText, tokens: Tokens, error: lark.UnexpectedToken) -> QueryError:
    kinds = {kind for kind in error.accepts or error.expected if kind != "OTHER"}
    expected = sorted({_VAGUE.get(kind) or _SHOWN.get(kind, kind) for kind in kinds})
    advice = f"expected {' or '.join(expected)}" if len(expected) <= 10 else ""
    if error.token.type == "$END" and (opened := _find_unclosed(tokens)) is not None:
        with_at = next(
            (at for at in range(opened, len(tokens) - 1) if is_word(tokens[at], "WITH") and tokens[at + 1].text == "("),
            None,
        )
        if with_at is not None:
            return source.error(
                "a ) is missing before WITH", span_of([tokens[with_at]]), "write ) behind the last column"
            )
        return source.error("this ( is never closed", span_of([tokens[opened]]), "write ) where it ends")
    if error.token.type == "$END":
        return source.error("the statement ends too early", (tokens[-1].end, tokens[-1].end + 1), advice)
    at, end = error.token.start_pos or 0, error.token.end_pos or 0
    if (
        source.text[at:end] == "."
        and is_word(tokens[0], "CREATE")
        and (name := _field_of_watermark(source, tokens, at))
    ):
        advice = (
            f"compute a column of it: {name[1]} AS {'.'.join(name)}, and write WATERMARK FOR {name[1]} AS {name[1]}"
        )
        return source.error(
            "a watermark is of a column, and this is a field", (at - len(name[0]), end + len(name[1])), advice
        )
    if at == tokens[0].start and error.token.type != "QUERY":
        near = difflib.get_close_matches(tokens[0].text.upper(), _STATEMENTS, 1)
        if source.text[at:end] == "#":
            return source.error("# does not begin a statement", (at, end), "a comment begins with --")
        meant = f"did you mean {near[0]}?" if near else f"a statement begins with {', '.join(_STATEMENTS)}"
        return source.error(f"{source.text[at:end]} does not begin a statement", (at, end), meant)
    begun = source.text[at:end].split()[:1]
    if "$END" in (error.accepts or error.expected) and begun and begun[0].upper() in _BEGINNINGS:
        return source.error(f"a ; is missing before {begun[0]}", (at, at + len(begun[0])))
    if begun and begun[0].upper() in _CLAUSES_ELSEWHERE:
        advice = _CLAUSES_ELSEWHERE[begun[0].upper()]
        if begun[0].upper() == "USING" and (ours := of_foreign_table(source, tokens)):
            advice = f"write {ours}"
    if bare := _unquoted_option(source, tokens, at):
        advice = f"write the value in quotes: {bare}"
    if source.text[at:end].upper() == "TO" and (
        setting := re.match(r"(?is)SET\s+([\w.]+)\s+TO\s+'?([^';]+)", source.text[tokens[0].start :])
    ):
        advice = f"write SET '{setting[1]}' = '{setting[2].strip()}'"
        if setting[1].upper() in ("TIMEZONE", "TIME_ZONE"):
            advice = f"write SET 'time.zone' = '{setting[2].strip()}'"
    return source.error(f"{source.text[at:end]} does not belong here", (at, end), advice)


_SET_TIME_ZONE = re.compile(r"(?i)SET\s+(?:SESSION\s+|LOCAL\s+)?TIME\s+ZONE\b(?:\s*'([^']*)')?")
"""How PostgreSQL and Spark set it, and the zone."""


def _set_time_zone(source: QueryText, tokens: Tokens) -> QueryError | None:
    zone = _SET_TIME_ZONE.match(source.text, tokens[0].start)
    if zone is None:
        return None
    advice = f"write SET 'time.zone' = '{zone[1] or 'Europe/Berlin'}'"
    return source.error("SET TIME ZONE is not supported", zone.span(), advice, NotSupported)


def _unquoted_option(source: QueryText, tokens: Tokens, at: int) -> str:
    """The option of WITH whose value stands without quotes, and has a sign in it at this place; empty where it is another thing."""
    begun = re.search(r"(?is)\bWITH\s*\(.*?([\w.'-]+)\s*=\s*([\w.]*)$", source.text[tokens[0].start : at])
    rest = re.match(r"[\w./:*\\-]+", source.text[at:])
    return f"'{begun[1].strip(chr(39))}' = '{begun[2]}{rest[0]}'" if begun and rest else ""


def _find_unclosed(tokens: Tokens) -> int | None:
    """The index of the first parenthesis that nothing closes, if there is one."""
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.text == "(" and not is_text(token):
            opened.append(at)
        elif token.text == ")" and not is_text(token) and opened:
            opened.pop()
    return opened[0] if opened else None


def _field_of_watermark(source: QueryText, tokens: Tokens, at: int) -> tuple[str, str] | None:
    """`a` and `b` of `WATERMARK FOR a.b`, whose dot stands `at` that place."""
    found = next((index for index, token in enumerate(tokens) if token.start == at), 0)
    if found > 2 and is_word(tokens[found - 3], "WATERMARK") and found + 1 < len(tokens):
        return tokens[found - 1].text, tokens[found + 1].text
    return None


_BEGINNINGS = frozenset({*_STATEMENTS} - {"SET"})
_CLAUSES_ELSEWHERE = {
    "FORMAT": "the format is an option of WITH: 'format' = 'json'",
    "USING": "the connector and the format are options of WITH: WITH ('connector' = 'file', 'format' = 'parquet')",
    "PARTITIONED": "write PARTITIONED BY (a, b) before WITH, with the names of columns alone",
    "PARTITION": "write PARTITIONED BY (a, b) behind the columns of the CREATE TABLE, with the names of columns alone",
    "CLUSTER": "leave it out: the planner chooses how rows are spread over tasks",
    **dict.fromkeys(
        ("ENGINE", "LOCATION", "STORED", "ROW", "TBLPROPERTIES", "OPTIONS"),
        "where the rows are is said by WITH: WITH ('connector' = 'file', 'path' = 'data.csv', 'format' = 'csv')",
    ),
    "APPEND": "leave it out: of any table that is written EXPLAIN says whether rows are taken back",
    "DISTRIBUTED": "leave it out: the planner chooses how rows are spread over tasks",
    "BY": "write the columns: INSERT INTO t (a, b) SELECT ...",
}
"""What other dialects have behind a statement's beginning, and what to write instead."""
_FOREIGN = {
    ("SUMMARIZE",): "SUMMARIZE is not supported: write SELECT COUNT(*), MIN(a), MAX(a), APPROX_COUNT_DISTINCT(a) FROM t, "
    "or DESCRIBE t for its columns",
    ("TABLE",): "TABLE t as a query is not supported: write SELECT * FROM t",
    ("SUBSCRIBE",): "SUBSCRIBE is not supported: a SELECT goes on for as long as rows come",
    ("CREATE", "FUNCTION"): "CREATE FUNCTION is not supported: write it in Python with ouzel.function, and run the query from Python",
    ("REFRESH", "MATERIALIZED"): "REFRESH MATERIALIZED VIEW is not supported; a view follows its tables by itself: leave it out",
    ("CREATE", "SINK"): "CREATE SINK is not supported: write CREATE TABLE and INSERT INTO",
    ("CREATE", "STREAM"): "CREATE STREAM is not supported: write CREATE TABLE for rows that are read, and CREATE VIEW for a query",
    ("CREATE", "DYNAMIC"): "CREATE DYNAMIC TABLE is not supported: write CREATE MATERIALIZED VIEW name AS SELECT ...",
    ("CREATE", "STREAMING"): "CREATE STREAMING TABLE is not supported: write CREATE MATERIALIZED VIEW name AS SELECT ...",
    ("CREATE", "LIVE"): "CREATE LIVE TABLE is not supported: write CREATE MATERIALIZED VIEW name AS SELECT ...",
    ("CREATE", "SEQUENCE"): "CREATE SEQUENCE is not supported: nothing numbers rows here; take the key from the data",
    ("CREATE", "CATALOG"): "CREATE CATALOG is not supported: a file of SQL creates the tables it reads",
    ("CREATE", "DATABASE"): "CREATE DATABASE is not supported: a file of SQL creates the tables it reads",
    ("CREATE", "EXTERNAL"): "CREATE EXTERNAL is not supported: write CREATE TABLE t (...) WITH ('connector' = 'file', ...)",
    ("CREATE", "INDEX"): "CREATE INDEX is not supported: nothing is looked up in a stream; leave it out",
    ("CREATE", "SCHEMA"): "CREATE SCHEMA is not supported: a file of SQL creates the tables it reads",
    ("CREATE", "TYPE"): "CREATE TYPE is not supported: write ROW<a INT, b STRING> as the type of the column",
    ("CREATE", "TEMP", "VIEW"): "CREATE TEMP VIEW is not supported: write CREATE TEMPORARY VIEW, or CREATE VIEW, which says the same",
    ("CREATE", "TEMP"): "CREATE TEMP is not supported: write CREATE VIEW name AS SELECT ..., or CREATE TABLE name (columns)",
    ("DROP",): "DROP is not supported: a file of SQL starts without tables",
    ("ALTER", "SESSION"): "ALTER SESSION is not supported: write SET 'name' = 'value'; SHOW SETTINGS lists the names",
    ("ALTER",): "ALTER is not supported: change the CREATE TABLE",
    ("USE",): "USE is not supported: a file of SQL creates the tables it reads",
    ("RESET",): "RESET is not supported: remove the SET",
    ("DELETE",): "DELETE is not supported: write INSERT INTO a table with a PRIMARY KEY; rows that the query takes back go",
    ("UPDATE",): "UPDATE is not supported: write INSERT INTO a table with a PRIMARY KEY, whose rows replace each other",
    ("TRUNCATE",): "TRUNCATE is not supported; a topology appends to or upserts into its sinks: write into another table",
    ("ADD", "JAR"): "ADD JAR is not supported: add the connector's Python package, pip install 'ouzel[kafka]'",
    ("STOP", "JOB"): "STOP JOB is not supported; end `ouzel run` with Ctrl-C, which writes what was read",
    ("MERGE",): "MERGE is not supported: write INSERT INTO a table with a PRIMARY KEY",
    ("REPLACE", "INTO"): "REPLACE INTO is not supported: write INSERT INTO a table with a PRIMARY KEY, whose rows replace each other",
    ("UPSERT",): "UPSERT is not supported: write INSERT INTO a table with a PRIMARY KEY, whose rows replace each other",
    ("INSERT", "IGNORE"): "INSERT IGNORE is not supported: write INSERT INTO, and SELECT DISTINCT for each row once",
    ("PIVOT",): "PIVOT is not supported: write SELECT, with an aggregate for each value: SUM(x) FILTER (WHERE k = 'a') AS a",
    ("UNPIVOT",): "UNPIVOT is not supported: write SELECT ... FROM t CROSS JOIN UNNEST(ARRAY[a, b]) AS u (value)",
    ("LIST",): "LIST is not supported: write SHOW TABLES",
    ("PRINT",): "PRINT is not supported: write SELECT * FROM t",
    ("TERMINATE",): "TERMINATE is not supported: `ouzel stop NAME` ends a topology",
    ("CALL",): "CALL is not supported: write a query, or use the commands of `ouzel`",
    ("BEGIN", "STATEMENT"): "BEGIN STATEMENT is not supported: write EXECUTE STATEMENT SET BEGIN ... END",
    ("DECLARE",): "DECLARE is not supported: write the value itself where it is used",
    ("PRAGMA",): "PRAGMA is not supported: SHOW SETTINGS lists what SET takes",
    ("INSTALL",): "INSTALL is not supported: connectors are Python packages, pip install 'ouzel[kafka]'",
    ("ATTACH",): "ATTACH is not supported: a file of SQL creates the tables it reads",
    ("COMMIT",): "COMMIT is not supported: there are no transactions; leave it out",
    ("GRANT",): "GRANT is not supported: there are no users; leave it out",
    ("INSERT", "OVERWRITE"): "INSERT OVERWRITE is not supported: a stream only adds; write INSERT INTO",
}  # fmt: skip


_OURS: dict[tuple[str, ...], Callable[[QueryText, Tokens], str]] = {
    ("CREATE", "EXTERNAL"): of_foreign_table, ("CREATE", "STREAM"): of_stream, ("CREATE", "SINK"): of_sink,
}  # fmt: skip
"""What writes some of them out as they are written here."""


def _refuse_foreign_statements(source: QueryText, tokens: Tokens) -> None:
    _refuse_commands(source, tokens)
    words = [token for token in tokens[:5] if not is_word(token, "OR", "REPLACE", "TEMPORARY", "SYSTEM")][:3]
    words = list(tokens[:2]) if is_word(tokens[0], "REPLACE") else words
    if [token.text.upper() for token in tokens[:4]] == ["CREATE", "OR", "REPLACE", "TABLE"]:
        problem = "CREATE OR REPLACE TABLE is not supported: no table is left from before; write CREATE TABLE"
        raise source.error(problem, span_of(tokens[:4]), kind=NotSupported)
    if is_word(tokens[0], "FROM"):
        problem = f"FROM at the beginning is not supported: write {_turned_around(source, tokens)}"
        raise source.error(problem, span_of(tokens[:1]), kind=NotSupported)
    if is_word(tokens[0], "COPY"):
        raise source.error(of_copy(source.text, tokens), span_of(tokens[:1]), kind=NotSupported)
    if file := of_written_file(tokens):
        count, problem, advice = file
        raise source.error(problem, span_of(tokens[2 : 2 + count]), advice)
    for phrase, problem in _FOREIGN.items():
        if all(is_word(token, word) for token, word in zip(words, phrase, strict=False)) and len(words) >= len(phrase):
            if (find := _OURS.get(phrase)) and (ours := find(source, tokens)):
                problem = f"{' '.join(phrase)} is not supported: write {ours}"
            raise source.error(problem, span_of(words[: len(phrase)]), kind=NotSupported)


def _turned_around(source: QueryText, tokens: Tokens) -> str:
    """The query with its FROM behind its select list, as `FROM t SELECT a` of DuckDB means it."""
    at = next((at for at, token in enumerate(tokens) if is_word(token, "SELECT")), len(tokens))
    end = next((at for at, token in enumerate(tokens) if token.text in ("|", "|>", ";")), at)
    begun = source.text[tokens[0].start : tokens[min(at, end) - 1].end + 1]
    if at == len(tokens):
        return f"SELECT * {begun}"
    items = source.text[tokens[at].start : tokens[-1].end + 1]
    return f"{items} {begun}" if len(items) + len(begun) < 100 else f"SELECT ... {begun}"


def _refuse_commands(source: QueryText, tokens: Tokens) -> None:
    """Templates, and commands of shells, which are no SQL: `{{ config(...) }}`, `.tables`, and `\\d t`."""
    begins, first = source.text[tokens[0].start :][:40], span_of(tokens[:1])
    if begins.startswith(("{{", "{%")):
        advice = "render the text first, as dbt and Jinja do, or write what stands for it"
        raise source.error("a template is not filled in", (first[0], first[0] + 2), advice)
    if re.match(r"[.\\]\w", begins):
        told = "write SHOW TABLES, or DESCRIBE name"
        raise source.error(f"{begins.split()[0]} is a command of another shell", first, told)


class _Shells:
    """Reads the parse tree of one statement."""

    def __init__(self, source: QueryText, tokens: Tokens) -> None:
        self.source, self.tokens = source, tokens
        self.starts = [token.start for token in tokens]

    def statement(self, tree: lark.Tree[Any]) -> Statement:
        """The statement that the tree spells."""
        match tree.data:
            case "create_table":
                return self._create_table(tree)
            case "create_view":
                columns = self._names(_trees(tree, "columns"))
                words = {getattr(child, "type", "") for child in tree.children}
                return CreateView(
                    self._name(tree), columns, self._run(tree, "query"), "REPLACE" in words, "MATERIALIZED" in words
                )
            case "insert":
                return Insert(self._name(tree), self._names(_trees(tree, "columns")), self._run(tree, "query"))
            case "set":
                return SetOption(self._option(_trees(tree, "option")[0]))
            case "explain":
                details = tuple(map(self._detail, [*_flinks_plan(tree), *_trees(tree, "detail")]))
                inner = self.statement(tree.children[-1])
                assert isinstance(inner, Select | Insert)
                return Explain(details, inner)
            case "reconcile":
                moments = [part for between in _trees(tree, "between") for part in _trees(between, "moment")]
                return ReconcileStatement(self._name(tree), tuple(map(_moment, moments)), self._options(tree))
        return Select(self._tokens(tree))

    def _detail(self, tree: lark.Tree[Any]) -> str:
        word = str(tree.children[0])
        if word.lower() not in _DETAILS:
            raise self.source.error(
                f"EXPLAIN shows no {word}", _span(tree), f"write {', '.join(_DETAILS).upper()} or nothing"
            )
        return word.lower()

    def _create_table(self, tree: lark.Tree[Any]) -> CreateTable:
        columns = [self._column(part) for part in tree.children if getattr(part, "data", "") in ("column", "computed")]
        keys = [self._names([key]) for key in _trees(tree, "primary_key")]
        keys += [(column.name,) for column in columns if column.primary]
        opening = next(
            (part.end_pos for part in tree.children if isinstance(part, lark.Token) and part.type == "LPAR"), 0
        )
        options = (*self._read_partitioned(tree), *self._options(tree))
        return CreateTable(
            self._name(tree), tuple(columns), tuple(map(self._watermark, _trees(tree, "watermark"))), tuple(keys), options,
            _span(tree), opening or 0, self._star(tree), self._like(tree), self._run(tree, "query"), self._partitions(tree),
        )  # fmt: skip

    def _partitions(self, tree: lark.Tree[Any]) -> tuple[Name, ...]:
        """The columns of its PARTITIONED BY."""
        return self._names(_trees(tree, "partitioned"))

    def _read_partitioned(self, tree: lark.Tree[Any]) -> tuple[WrittenOption, ...]:
        """PARTITIONED BY as the option that says the same."""
        return tuple(self._make_partition_option(clause) for clause in _trees(tree, "partitioned"))

    def _make_partition_option(self, clause: lark.Tree[Any]) -> WrittenOption:
        names = self._names([clause])
        wrong = next((name for name in names if "," in name.text or name.text.strip() != name.text), None)
        if wrong is not None:
            raise self.source.error("no folder is named by such a column", wrong.span, "rename the column")
        if str(clause.children[1]).upper() != "BY":
            raise self.source.error(
                f"{clause.children[1]} does not belong here", _span(clause), "write PARTITIONED BY (a, b)"
            )
        return WrittenOption("partition.by", ", ".join(name.text for name in names), _span(clause))

    def _star(self, tree: lark.Tree[Any]) -> Span | None:
        stars = _trees(tree, "every")
        wrong = [star for number, star in enumerate(stars) if number or star.children[0] != "*"]
        if wrong:
            problem = f"{wrong[0].children[0]} does not belong here"
            raise self.source.error(problem, _span(wrong[0]), "write * once, for the columns that are found")
        return _span(stars[0]) if stars else None

    def _like(self, tree: lark.Tree[Any]) -> LikeClause | None:
        found = _trees(tree, "like")
        if len(found) > 1:
            raise self.source.error("the table is like two others", _span(found[1]), "keep one LIKE")
        words = [part for like in found for part in _trees(like, "like_words")]
        pairs = tuple((str(part.children[0]).upper(), str(part.children[1]).upper(), _span(part)) for part in words)
        return LikeClause(self._name(found[0]), pairs) if found else None

    def _column(self, tree: lark.Tree[Any]) -> ColumnClause:
        name, kind = self._name(tree), self._run(tree, "type")
        if tree.data == "computed":
            return ColumnClause(name, kind, self._run(tree, "expression"))
        metadata = _trees(tree, "metadata")
        words: list[Any] = [part for clause in metadata for part in clause.children]
        keys = [str(word) for word in words if word.type == "STRING"]
        return ColumnClause(
            name,
            kind,
            not_null=bool(_trees(tree, "not_null") or _trees(tree, "primary")),
            primary=bool(_trees(tree, "primary")),
            metadata=(keys or [name.text])[0] if metadata else None,
            virtual=any(word.type == "VIRTUAL" for word in words),
        )

    def _watermark(self, tree: lark.Tree[Any]) -> WatermarkClause:
        idle = _trees(tree, "idle")
        tokens = self._run(idle[0], "expression") if idle else None
        return WatermarkClause(self._name(tree), self._run(tree, "expression"), tokens)

    def _options(self, tree: lark.Tree[Any]) -> tuple[WrittenOption, ...]:
        """Those of its WITH."""
        return tuple(self._option(option) for part in _trees(tree, "with_options") for option in _trees(part, "option"))

    def _option(self, tree: lark.Tree[Any]) -> WrittenOption:
        key, value = (child for child in tree.children if isinstance(child, lark.Tree))
        return WrittenOption(_join(key), _join(value), _span(tree))

    def _name(self, tree: lark.Tree[Any]) -> Name:
        token: Any = _trees(tree, "name")[0].children[0]
        return Name(str(token), token.type == "QUOTED", (token.start_pos, token.end_pos))

    def _names(self, trees: list[lark.Tree[Any]]) -> tuple[Name, ...]:
        lists = [names for tree in trees for names in _trees(tree, "names")]
        wrapped = [lark.Tree("wrapped", [child]) for names in lists for child in _trees(names, "name")]
        return tuple(self._name(tree) for tree in wrapped)

    def _run(self, tree: lark.Tree[Any], rule: str) -> Tokens:
        found = _trees(tree, rule)
        return self._tokens(found[0]) if found else ()

    def _tokens(self, tree: lark.Tree[Any]) -> Tokens:
        start, end = _span(tree)
        return self.tokens[bisect.bisect_left(self.starts, start) : bisect.bisect_left(self.starts, end)]


def _flinks_plan(explain: lark.Tree[Any]) -> list[lark.Tree[Any]]:
    """What EXPLAIN says before FOR, unless it is Flink's PLAN, which is no detail."""
    return [tree for tree in _trees(explain, "plan_for") if str(tree.children[0]).upper() != "PLAN"]


def _moment(tree: lark.Tree[Any]) -> TimeText:
    return TimeText(str(tree.children[-1]), _span(tree))


def _trees(tree: lark.Tree[Any], rule: str) -> list[lark.Tree[Any]]:
    return [child for child in tree.children if isinstance(child, lark.Tree) and child.data == rule]


def _span(tree: lark.Tree[Any]) -> Span:
    return (tree.meta.start_pos, tree.meta.end_pos)


def _join(tree: lark.Tree[Any]) -> str:
    return "".join(_join(part) if isinstance(part, lark.Tree) else str(part) for part in tree.children)
