"""What to write where a stream's records have no time, or one that is none."""

from __future__ import annotations

from ouzel.compiler.records import Form, RecordType
from ouzel.compiler.types import DecimalType, FloatType, IntegerType, TimestampType, VarcharType
from ouzel.dsl.producers import NamedAs, Producer, StepTaken, Summed, TableRead, entire_graph, undated
from ouzel.errors import QueryError


def of_no_time(column: str, producer: Producer) -> QueryError:
    """The error for event time from a column that is none, or no time, of what a producer gives."""
    record = producer.record
    found = {field.name: field.type for field in record.columns}
    times = [repr(name) for name, kind in found.items() if isinstance(kind, TimestampType)]
    instead = "give the records a datetime, and name it"
    if column in found and isinstance(found[column], IntegerType | FloatType | DecimalType):
        instead = _advise_of_numbers(column, producer)
    if column in found and isinstance(found[column], VarcharType) and record.form is Form.CLASS:
        instead = f"map to records with a datetime, datetime.fromisoformat(record.{column}), and name that"
    if times:
        instead = f"name one that is a datetime: {' or '.join(times)}"
    if column not in found:
        instead = _advise_of_lost_time(column, producer) or instead
    return QueryError(
        f"{column} is no datetime of {record}" if column in found else f"{record} has no {column!r}", instead=instead
    )


def _advise_of_numbers(column: str, producer: Producer) -> str:
    """What to write where a time is a number: of a source that reads it as one, and else a function that makes one of it."""
    instead = "map to records with a datetime, datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), and name that"
    below = producer
    while isinstance(below, NamedAs):
        below = below.below
    if isinstance(below, TableRead) and below.record.form is Form.CLASS:
        return f"declare {column}: datetime, and give the source timestamp_epoch='millis', or 'seconds', as its numbers are; or {instead}"
    return instead


def _advise_of_lost_time(column: str, producer: Producer) -> str:
    """What to write where the records had this time, and a step has left it out; empty if they had not."""
    for one in entire_graph(producer):
        for before in one.reads:
            kinds = {field.name: field.type for field in before.record.columns}
            if isinstance(kinds.get(column), TimestampType) and column not in one.record.schema.names:
                verb = one.step.called.split()[0] if isinstance(one, StepTaken) else "step"
                return f"call event_time({column!r}, …) before this {verb}, where {before.record} has {column!r}"
    return ""


def advise_of_time(verb: str, without: Producer, record: RecordType) -> str:
    """What to write where a verb needs a time, and a producer leaves its records, which become these, without one."""
    if isinstance(without, Summed) and undated(without.below) is None:
        shape = ", and its records are (key, window_start, window_end, value)" if verb == "sum_by_window" else ""
        return f"call {verb}(…) in its place: what that adds up has a time{shape}"
    call = "call event_time(column, delay) behind it"
    timed = any(isinstance(field.type, TimestampType) for field in (*without.record.columns, *record.columns))
    return call if timed else f"give its records a datetime, and {call}"
