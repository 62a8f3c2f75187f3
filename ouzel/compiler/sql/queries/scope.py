"""What names mean: the columns that a FROM clause offers, and how a written name finds one of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import Node, Scan, SortKey, Watermark
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.errors import QueryError


@dataclass(frozen=True)
class Visible:
    """A column as a query sees it: the alias of its table, its name, and the column of the plan's node that holds it.

    One that is `hidden` is only found under its table's name: USING has merged it with another.
    """

    table: str
    name: str
    column: str
    hidden: bool = False


@dataclass(frozen=True)
class Relation:
    """A node of the plan with the names it is known by.

    `window` are the node's columns that hold window_start, window_end and window_time ('' where one is gone); None without a window.
    `undated` is the advice for a window over a relation without event time, with `{column}` for the column it wanted.
    `sorted_by` is the order in which the rows are shown if they are a result; a table has none. `chosen_by` is what its first rows are
    chosen by and not shown by, as it is written, for it is not selected.
    """

    node: Node
    columns: tuple[Visible, ...]
    window: tuple[str, str, str] | None = None
    undated: str = ""
    sorted_by: tuple[SortKey, ...] = ()
    chosen_by: exp.Expr | None = None

    def with_alias(self, table: str, names: Sequence[str] = ()) -> Relation:
        """The relation under another name and, if given, other column names."""
        renamed = [*names, *(column.name for column in self.columns[len(names) :])]
        columns = tuple(
            replace(column, table=table, name=name) for column, name in zip(self.columns, renamed, strict=True)
        )
        return replace(self, columns=columns)

    def with_name(self, name: str, begins: int) -> Relation:
        """The relation of a view or CTE; one that gives no more than a table or another view keeps the name of that."""
        if isinstance(self.node, Scan | Watermark) or self.node.written.name:
            return self
        written = replace(self.node.written, name=name, begins=begins)
        return replace(self, node=replace(self.node, written=written))

    def column(self, visible: Visible) -> Column:
        """The expression that reads a visible column."""
        return Column(self.node.schema[visible.column].type, visible.column)


def relation_of(node: Node, table: str = "", window: tuple[str, str, str] | None = None) -> Relation:
    """A relation whose column names are the node's."""
    return Relation(node, tuple(Visible(table, name, name) for name in node.schema.names), window)


def name_of(source: QueryText, identifier: exp.Expr) -> Name:
    """The name an identifier of sqlglot's tree stands for, as it was written."""
    start, end = identifier.meta.get("start", 0), identifier.meta.get("end", 0) + 1
    return Name(identifier.name, bool(identifier.args.get("quoted")), (start, end))


def is_name_of(written: Name, actual: str) -> bool:
    """Whether a written name means `actual`: case counts only in quotes."""
    return written.text == actual or (not written.quoted and written.text.lower() == actual.lower())


def pick(written: Name, names: Iterable[str]) -> list[int]:
    """Positions of the names that `written` means; one in the same case wins over others."""
    all_names = list(names)
    exact = [index for index, name in enumerate(all_names) if name == written.text]
    return exact or [index for index, name in enumerate(all_names) if is_name_of(written, name)]


def near(written: str, names: Iterable[str], otherwise: str = "") -> str:
    """Advice: the names most like the one written, or all of them if they are few."""
    all_names = list(dict.fromkeys(names))
    lowered = {name.lower(): name for name in reversed(all_names)}
    found = [lowered[name] for name in difflib.get_close_matches(written.lower(), list(lowered), 3, 0.6)]
    if found:
        return f"did you mean {' or '.join(found)}?"
    return (
        f"there {'are' if len(all_names) > 1 else 'is'} {', '.join(all_names)}"
        if 0 < len(all_names) <= 12
        else otherwise
    )


def find_column(source: QueryText, relation: Relation, parts: Sequence[Name]) -> tuple[Visible, int]:
    """The column that `a`, `t.a` or `t.a.field` means, and how many of the parts name it.

    Raises:
        QueryError: there is none, or there are several.
    """
    first = parts[0]
    if len(parts) > 1 and any(is_name_of(first, column.table) for column in relation.columns):
        inner = [column for column in relation.columns if is_name_of(first, column.table)]
        return _only(source, relation, parts[1], inner), 2
    shown = [column for column in relation.columns if not column.hidden]
    return _only(source, relation, first, shown, qualified=len(parts) > 1), 1


def _only(
    source: QueryText, relation: Relation, name: Name, columns: Sequence[Visible], qualified: bool = False
) -> Visible:
    found = [columns[index] for index in pick(name, (column.name for column in columns))]
    if len(found) == 1:
        return found[0]
    if found:
        choices = " or ".join(dict.fromkeys(f"{column.table}.{column.name}" for column in found))
        advice = f"write {choices}" if len({column.table for column in found}) > 1 else "give one of them another alias"
        raise source.error(f"the column {name.text} is ambiguous", name.span, advice)
    if not columns:
        raise source.error(f"there is no column {name.text}: this query reads no table", name.span, "add FROM")
    tables = {column.table for column in columns if column.table}
    names = [column.name for column in columns]
    if qualified:
        advice = near(name.text, [*tables, *names])
        if name.text.lower() == "window":  # Spark's column, a struct of two times
            advice = f"write window_start and window_end, FROM {_of_sparks_window(source.text, tables)}"
        elif len(tables) == 1 and not pick(name, tables):
            after = re.match(r"\s*\.\s*(\w+)", source.text[name.span[1] :])
            if after and pick(Name(after[1], False, name.span), names):
                advice = f"the table is called {next(iter(tables))} here: write {next(iter(tables))}.{after[1]}"
        elif not pick(name, [*tables, *names]) and (meant := _missing_alias(source, name, columns)):
            raise source.error(f"no table is called {name.text} here", name.span, meant)
        raise source.error(f"there is no table or column {name.text}", name.span, advice)
    where = f" in {next(iter(tables))}" if len(tables) == 1 else ""
    time = relation.node.time_column or "the column of the WATERMARK"
    if name.text.lower() in source.clocks:
        problem = f"{name.text} is PROCTIME(), which is only supported in JOIN ... FOR SYSTEM_TIME AS OF"
        raise source.error(problem, name.span, f"write {time}, which is event time")
    advice = (
        f"rows have no time by the clock here: write {time}, which is event time"
        if name.text.lower() in _CLOCKS
        else ""
    )
    advice = (
        advice or _ELSEWHERE.get(name.text.upper()) or _advise_window(name, relation, tables) or near(name.text, names)
    )
    if source.text.startswith('"', name.span[0]) and name.text.lower() not in map(str.lower, names):
        shown = name.text.replace("'", "''")
        similar = f"{advice.removesuffix('?')}, or the text '{shown}', which stands in single quotes?"
        advice = similar if advice.startswith("did you mean") else f"a text stands in single quotes: '{shown}'"
    raise source.error(f"there is no column {name.text}{where}", name.span, advice)


def _missing_alias(source: QueryText, name: Name, columns: Sequence[Visible]) -> str:
    """Advice for `c.name` where one table has the column, or one that begins with `c`: its alias was left out."""
    after = re.match(r"[\"`]?\s*\.\s*[\"`]?(\w+)", source.text[name.span[1] :])
    if after is None or near(name.text, [text for one in columns for text in (one.table, one.name)]).startswith("did"):
        return ""
    column = Name(after[1], False, name.span)
    having = {one.table for one in columns if one.table and is_name_of(column, one.name)}
    meant = [table for table in having if len(having) == 1 or table.lower().startswith(name.text.lower())]
    return f"write {meant[0]}.{after[1]}, or {meant[0]} AS {name.text} in FROM" if len(meant) == 1 else ""


_CLOCKS = frozenset({"rowtime", "proctime", "proc_time", "processing_time"})
"""What Flink's programs call a column of PROCTIME()."""
_WINDOWED = "a window has it: write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)), and window_start or window_end"
_ELSEWHERE = {
    "ROWNUM": "write LIMIT behind the query", "ROWID": "declare a key among the columns", "WINDOWSTART": _WINDOWED, "WINDOWEND": _WINDOWED,
    "NONE": "write NULL, and IS NULL to compare with it", "NIL": "write NULL", "UNDEFINED": "write NULL",
    "NAN": "write CAST('NaN' AS DOUBLE)", "INFINITY": "write CAST('Infinity' AS DOUBLE)", "SYSDATE": "write a time column of the table",
}  # fmt: skip
"""Columns that each table of another database has, and what to write here."""


def _advise_window(name: Name, relation: Relation, tables: Iterable[str]) -> str:
    """Advice for window_start and its like where no window is; empty for other names."""
    if name.text.lower() not in ("window_start", "window_end", "window_time") or relation.window:
        return ""
    table, time = next(iter(tables), "t"), relation.node.time_column or "ts"
    return f"a window has it: write FROM TABLE(TUMBLE(TABLE {table}, DESCRIPTOR({time}), INTERVAL '1' HOUR))"


def _of_sparks_window(text: str, tables: Collection[str]) -> str:
    """The window of Spark's call in the text, with its table, and what is grouped by it; an example where there is no such call."""
    called = re.search(r"(?i)\bwindow\s*\(\s*([\w.]+)\s*,\s*'(\d+)\s+(\w+?)s?'\s*\)", text)
    table = next(iter(tables)) if len(tables) == 1 else "t"
    table = table if re.search(rf"(?i)\b(?:FROM|JOIN)\s+{re.escape(table)}\b", text) else "t"  # and no alias
    if called is None:
        return f"TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' HOUR)"
    time, number, unit = called[1].rpartition(".")[2], called[2], called[3].upper()
    return (
        f"TUMBLE(TABLE {table}, DESCRIPTOR({time}), INTERVAL '{number}' {unit}), and GROUP BY window_start, window_end"
    )


def fresh(base: str, taken: Iterable[str], any_case: bool = False) -> str:
    """`base`, or `base` with the first number that makes it new; with `any_case` new also to whom case does not count, as Spark."""
    fold = str.casefold if any_case else str
    names = set(map(fold, taken))
    if fold(base) not in names:
        return base
    return next(name for number in range(len(names) + 1) if fold(name := f"{base}{number}") not in names)


def unknown_table(source: QueryText, name: Name, known: Iterable[str]) -> QueryError:
    """The error for a table that nobody created."""
    known, last = list(known), name.text.rpartition(".")[2]
    advice = near(
        name.text,
        known,
        "write a CREATE TABLE or CREATE VIEW for it first, for those of other files are not known here",
    )
    if source.text[name.span[0]] in '"`' and set(name.text) & {".", "/"} and not advice.startswith("did you mean"):
        shown = name.text.replace("'", "''")
        advice = f"the path of a file stands in single quotes: '{shown}'"
        if last != name.text and last.lower() in map(str.lower, known):
            advice = f"tables have no database or catalog: write {last}"
    return source.error(f"there is no table {name.text}", name.span, advice)
