"""SET 'time.zone': the zone in which a query reads and writes its instants.

A TIMESTAMP_LTZ is an instant, the same in all zones. What depends on a zone is what clocks show then: its day and hour, its text, the
TIMESTAMP that it is cast to. All of that is written into the plan as conversions between zones, so both engines compute the same, and
neither needs a session zone of its own. As in Flink (`table.local-time-zone`) and Spark (`spark.sql.session.timeZone`) a TIMESTAMP, which
has no zone, means nothing else than before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Call, Case, Cast, Expression, Literal, rewrite
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.functions.temporal import unit_of
from ouzel.compiler.functions.zones import is_zone, name_zone
from ouzel.compiler.plan import Sink, with_expressions
from ouzel.compiler.sql.script import Script
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import SetOption
from ouzel.compiler.types import (
    DATE,
    INTERVAL_MONTHS,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    VARCHAR,
    ArrayType,
    DataType,
    MapType,
    RowType,
    walk_type,
)
from ouzel.errors import NotSupported, QueryError

UTC = "UTC"
"""The zone of a session that sets none."""

KEYS = frozenset(["time.zone", "time_zone", "table.local-time-zone"])
"""How the setting is written."""

_SHOWN = frozenset(
    ["year", "quarter", "month", "weekofyear", "dayofmonth", "dayofyear", "dayofweek", "weekday", "hour", "minute", "second", "dayname",
     "monthname", "date_format"]
)  # fmt: skip
"""What clocks show at a time."""

_DAYS = ("day", "week", "month", "quarter", "year")
"""Units whose length depends on a zone."""

_NAMES_ZONE = r"[:T ][0-9]+([.][0-9]*)? *([A-Z+-].*)$"
"""A text that says the zone of its time, behind the hour or what is less."""

_OF_UTC = {
    "from_unixtime": "write DATE_FORMAT(TO_TIMESTAMP_LTZ(seconds, 0), 'yyyy-MM-dd HH:mm:ss')",
    "unix_timestamp": "write UNIX_SECONDS(CAST(TO_TIMESTAMP(text, pattern) AS TIMESTAMP_LTZ))",
}
"""Functions that read or write text in UTC, though nothing in their arguments says so."""


def zone_of(script: Script, given: Iterable[tuple[str, str]]) -> str:
    """The zone that a file sets, or that is `given`, which wins; of several the last.

    Raises:
        QueryError: it is none.
    """
    zone, span = UTC, (0, 0)
    for statement, _ in script.statements:
        if isinstance(statement, SetOption) and statement.option.key in KEYS:
            zone, span = statement.option.value, statement.option.span
            if not is_zone(zone):
                raise script.source.error(f"there is no time zone '{zone}'", span, name_zone(zone))
    return next((value for key, value in reversed(tuple(given)) if key in KEYS), zone)


def with_zone(source: QueryText, sinks: Sequence[Sink]) -> tuple[Sink, ...]:
    """The plan of a session in the zone of `source`, from that of one in UTC.

    Raises:
        NotSupported: what it computes has no meaning in the zone.
    """
    if source.zone == UTC:
        return tuple(sinks)
    zoned = _Zoned(source, source.zone)
    return with_expressions(sinks, lambda whole: rewrite(whole, zoned.change))


@dataclass(frozen=True)
class _Zoned:
    """Expressions of a session in UTC as they are in one of this zone."""

    source: QueryText
    zone: str

    def change(self, part: Expression) -> Expression:
        """The expression, whose operands have been changed already."""
        made = part
        match part:
            case Cast():
                made = self._cast(part)
            case Call(row=None):
                made = self._call(part)
        return made if made is part or made.written else replace(made, written=part.written)

    def _at_zone(self, time: Expression) -> Expression:
        """What clocks show at an instant, or the instant at which they show a time."""
        return resolve_call("at_time_zone", [time, Literal(VARCHAR, self.zone)])

    def _cast(self, part: Cast) -> Expression:
        """A cast between an instant and what has no zone goes by what clocks show."""
        operand, source, target = part.operand, part.operand.type, part.type
        if source == TIMESTAMP_LTZ and target in (DATE, TIMESTAMP, VARCHAR):
            local = self._at_zone(operand)
            return local if target == TIMESTAMP else Cast(target, local, part.safe)
        if target == TIMESTAMP_LTZ and source in (DATE, TIMESTAMP):
            return self._at_zone(operand if source == TIMESTAMP else Cast(TIMESTAMP, operand, part.safe))
        if target == TIMESTAMP_LTZ and source == VARCHAR:
            names_zone = resolve_call("rlike", [operand, Literal(VARCHAR, _NAMES_ZONE)])
            return Case(target, ((names_zone, part),), self._at_zone(Cast(TIMESTAMP, operand, part.safe)))
        if _casts_inside(source, target):
            problem = f"CAST of {source} to {target} is not supported in a session of '{self.zone}'"
            raise self._refusal(part, problem, "cast its elements, each by itself")
        return part

    def _call(self, part: Call) -> Expression:
        kinds = [argument.type for argument in part.arguments]
        if part.function in _OF_UTC and TIMESTAMP_LTZ not in kinds:
            problem = f"{part.function.upper()} is not supported in a session of '{self.zone}': it means UTC"
            raise self._refusal(part, problem, _OF_UTC[part.function])
        if TIMESTAMP_LTZ not in kinds:
            return part
        if part.function in _SHOWN:
            return self._of_local(part)
        match part.function, part.arguments:
            case "date_trunc", (Literal(value=unit), time):
                return self._truncate(part, unit_of(unit), time)
            case "timestampdiff", (Literal(value=unit), *_) if unit_of(unit) in _DAYS:
                return self._of_local(part)
            case "timestampadd", (Literal(value=unit), *_) if unit_of(unit) in _DAYS:
                return self._at_zone(self._of_local(part))
            case (("add" | "subtract"), _) if INTERVAL_MONTHS in kinds:
                return self._at_zone(self._of_local(part))
        return part

    def _of_local(self, part: Call) -> Expression:
        """The call of what clocks show instead of instants."""
        shown = [self._at_zone(one) if one.type == TIMESTAMP_LTZ else one for one in part.arguments]
        return resolve_call(part.function, shown)

    def _truncate(self, part: Call, unit: str, time: Expression) -> Expression:
        """A day begins when clocks show so. An hour that comes twice began as long ago as clocks show that it did."""
        begin = self._of_local(part)
        if unit in _DAYS:
            return self._at_zone(begin)
        return resolve_call("subtract", [time, resolve_call("subtract", [self._at_zone(time), begin])])

    def _refusal(self, part: Expression, problem: str, instead: str) -> QueryError:
        if part.written is None:
            return NotSupported(problem, instead=instead)
        return self.source.error(problem, self.source.span(part.written), instead, NotSupported)


def _casts_inside(source: DataType, target: DataType) -> bool:
    """Whether elements are cast between instants and what has no zone."""
    if not isinstance(target, ArrayType | MapType | RowType):
        return False
    both = zip(walk_type(source), walk_type(target), strict=False)
    return any((old == TIMESTAMP_LTZ) != (new == TIMESTAMP_LTZ) for old, new in both)
