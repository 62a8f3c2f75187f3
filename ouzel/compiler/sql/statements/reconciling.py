"""RECONCILE: which of the file's sinks, which part of time, and its options."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ouzel.compiler import plan
from ouzel.compiler.catalog import RESULT
from ouzel.compiler.plan import Sink
from ouzel.compiler.sql.expressions.literals import instant_us
from ouzel.compiler.sql.queries.scope import is_name_of, near
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name, ReconcileStatement, TimeText, WrittenOption
from ouzel.errors import QueryError

OPTIONS = ("tolerance", "closed-windows", "report", "master")


def reconcile_sink(
    source: QueryText, statement: ReconcileStatement, sinks: Sequence[Sink], settings: Sequence[tuple[str, str]]
) -> plan.Reconcile:
    """What a RECONCILE asks for.

    Raises:
        QueryError: nothing writes that table, or a time or an option is wrong.
    """
    moments = [_instant(source, moment) for moment in statement.between]
    first, last = moments or (None, None)
    if first is not None and last is not None and first >= last:
        raise source.error(
            "no time lies between these two", statement.between[1].span, "write the earlier one first; the second is not in it"
        )  # fmt: skip
    given = _options(source, statement.options)
    return plan.Reconcile(
        _table(source, statement.name, sinks, dict(settings).get("query.name", "")),
        first,
        last,
        _flag(source, given.get("closed-windows")),
        _tolerance(source, given.get("tolerance")),
        *(given[key].value if key in given else "" for key in ("report", "master")),
    )


def _table(source: QueryText, name: Name, sinks: Sequence[Sink], query: str) -> str:
    """The sink of that name; a trailing SELECT is `result`, or the query's own name where SET 'query.name' gives it one."""
    written = [sink.table for sink in sinks]
    for table in written:
        if is_name_of(name, table):
            return table
    if RESULT in written and query and is_name_of(name, query):
        return RESULT
    known = [f"{RESULT} for the SELECT" if table == RESULT else table for table in written]
    advice = f"write {' or '.join(known)}" if known else "write RECONCILE after the INSERT INTO or the SELECT"
    raise source.error(f"nothing before this writes {name.text}", name.span, advice)


def _instant(source: QueryText, moment: TimeText) -> int:
    start, end = moment.span
    try:
        return instant_us(moment.text)
    except QueryError as error:
        raise error.located(source.text, start, end - start) from None


def _options(source: QueryText, options: Sequence[WrittenOption]) -> dict[str, WrittenOption]:
    given: dict[str, WrittenOption] = {}
    for option in options:
        if option.key not in OPTIONS:
            raise source.error(f"RECONCILE has no option '{option.key}'", option.span, near(option.key, OPTIONS))
        if option.key in given:
            raise source.error(f"the option '{option.key}' is given twice", option.span, "keep one")
        given[option.key] = option
    return given


def _flag(source: QueryText, option: WrittenOption | None) -> bool:
    if option is None:
        return False
    if option.value not in ("true", "false"):
        raise source.error(
            f"'{option.value}' is neither true nor false", option.span, "write 'closed-windows' = 'true'"
        )
    return option.value == "true"


def _tolerance(source: QueryText, option: WrittenOption | None) -> float | None:
    if option is None:
        return None
    try:
        value = float(option.value)
        if not 0 <= value < math.inf:
            raise ValueError
    except ValueError:
        raise source.error(f"'{option.value}' is no tolerance", option.span, "write 'tolerance' = '1e-9'") from None
    return value
