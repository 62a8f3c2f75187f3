"""Streams of records, as a program in Python spells them. Each method gives a new one; nothing runs before `run`, `batch` or `memory`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, overload
from zoneinfo import ZoneInfo

from ouzel.callers import users_line
from ouzel.compiler.plan import PythonStep, StepKind, StepPart
from ouzel.compiler.records import Hint, RecordType, pair_of, record_of, tuple_of, type_of
from ouzel.compiler.types import TimestampType
from ouzel.compiler.user_code import check_gives, check_plain
from ouzel.dsl import sampling
from ouzel.dsl.advice import (
    advise_of_function,
    advise_of_keys,
    advise_of_verb,
    check_arity,
    check_column,
    check_columns,
    check_expressions,
    check_monoid,
    check_span,
    check_streams,
    check_table,
    check_text_name,
    check_verbs,
    mapping_of,
    of_no_service,
    of_no_stream,
    told_of_pipe,
)
from ouzel.dsl.elsewhere import WHOLE
from ouzel.dsl.expressions import Expr, col
from ouzel.dsl.functions import function_id, function_name
from ouzel.dsl.in_python import is_plainly_ordered
from ouzel.dsl.inference import check_condition, declaration_of, result_hint
from ouzel.dsl.producers import (
    AlsoPlanned,
    AskedPairs,
    ConnectorTable,
    Filtered,
    JoinedPairs,
    Merged,
    NamedAs,
    Queried,
    RunningSum,
    Selected,
    StepTaken,
    Summed,
    Swapped,
    Timed,
    WindowSum,
    Written,
)
from ouzel.dsl.running import Runnable, T_co
from ouzel.dsl.services import Service
from ouzel.dsl.shapes import total_hint
from ouzel.dsl.time_advice import of_no_time
from ouzel.dsl.trial_sums import check_laws_of
from ouzel.dsl.variables import check_no_stream, variables_of, warn_of_chance, warn_of_changes
from ouzel.dsl.windows import WindowTotal, check_timed, check_windows, check_zone, window_record
from ouzel.errors import QueryError
from ouzel.monoid import Monoid

T = TypeVar("T")
U = TypeVar("U")
K = TypeVar("K")
V = TypeVar("V")
L = TypeVar("L")
R = TypeVar("R")


@check_verbs
class Stream(Runnable[T_co]):
    """Records, one after the other, for ever or to the end of their source. Of pairs the first half is the key."""

    # What becomes of each record

    def map(self, function: Callable[[T_co], U], *, returns: type[U] | None = None) -> Stream[U]:
        """What the function gives for each record."""
        return self._step("map", StepKind.MAP, StepPart.RECORD, function, returns)

    def flat_map(self, function: Callable[[T_co], Iterable[U]], *, returns: type[U] | None = None) -> Stream[U]:
        """Each of the things that the function gives for each record: none, one or many."""
        return self._step("flat_map", StepKind.FLAT_MAP, StepPart.RECORD, function, returns)

    def option_map(self, function: Callable[[T_co], U | None], *, returns: type[U] | None = None) -> Stream[U]:
        """What the function gives for each record, unless that is None."""
        return self._step("option_map", StepKind.OPTION_MAP, StepPart.RECORD, function, returns)

    def collect(self, mapping: Mapping[Any, U] | None = None) -> Stream[U]:
        """What the mapping, which has to be given, has for each record, of those for which it has something."""
        mapping = mapping_of(mapping)
        hint = sampling.hint_of_mapping(mapping)
        return self._step("collect", StepKind.OPTION_MAP, StepPart.RECORD, sampling.Lookup(dict(mapping)), hint)

    def filter(self, condition: Callable[[T_co], object] | Expr) -> Stream[T_co]:
        """The records for which the function, or the expression, is true."""
        if isinstance(condition, Expr):
            self._bind(condition)
            return Stream(Filtered(self.producer, condition, record=self.record, place=users_line()))
        return self._step("filter", StepKind.FILTER, StepPart.RECORD, condition, None)

    def select(self, *names: str, **items: Expr) -> Stream[Any]:
        """Records of these columns: some that there are, and what expressions make of them."""
        from ouzel.compiler.records import row_record
        from ouzel.compiler.types import Field, Schema

        check_columns(names)
        check_expressions(items)
        given = ({name: col(name) for name in names} | items).items()
        bound = [(name, self._bind(expression)) for name, expression in given]
        record = row_record(Schema(tuple(Field(name, one.type) for name, one in bound)))
        return Stream(Selected(self.producer, tuple(given), record=record, place=users_line()))

    # Several streams

    def merge(self, *others: Stream[T_co]) -> Stream[T_co]:
        """The records of all; `a + b` says the same."""
        parts = [self, *others]
        for other in others:
            if not isinstance(other, Stream):
                raise of_no_stream(other, Stream)
            if [one.type for one in other.record.columns] != [one.type for one in self.record.columns]:
                raise QueryError(
                    f"a stream of {self.record} cannot be merged with one of {other.record}",
                    instead="map both to the same type, or use either()",
                )
        return Stream(Merged(tuple(one.producer for one in parts), record=self.record, place=users_line()))

    def __add__(self, other: Stream[T_co]) -> Stream[T_co]:
        return self.merge(other)

    def either(self, other: Stream[U]) -> Stream[tuple[T_co | None, U | None]]:
        """The records of both as pairs, one half of which is None."""
        hint = tuple_of(self.record.hint, other.record.hint)
        left: Stream[Any] = self.map(sampling.on_the_left, returns=hint)
        right: Stream[Any] = other.map(sampling.on_the_right, returns=hint)
        return left.merge(right)

    def also(self, *others: Stream[Any]) -> Stream[T_co]:
        """This stream, and in the same topology whatever the others write."""
        from ouzel.dsl.producers import is_tail

        for other in others:
            if not is_tail(other.producer):
                raise QueryError(
                    "also() takes what writes, and one of these streams writes nothing",
                    instead="end it with write(sink)",
                )
        return Stream(
            AlsoPlanned(self.producer, tuple(one.producer for one in others), record=self.record, place=users_line())
        )

    def name(self, name: str) -> Stream[T_co]:
        """The same stream, and a name for what makes it, by which `run(options={name: StepOptions(...)})` speaks of it."""
        check_text_name("the name of a step", name)
        return Stream(NamedAs(self.producer, name, record=self.record, place=users_line()))

    def write(self, sink: ConnectorTable) -> Stream[T_co]:
        """The same stream, and every record goes to the sink."""
        check_table("write", sink, "Sink")
        return Stream(Written(self.producer, sink, record=self.record, place=users_line()))

    def event_time(self, column: str, delay: timedelta = timedelta(0)) -> Stream[T_co]:
        """The same stream, whose records happened when a column says, in its order but for this delay.

        What becomes of a record happened when the record did. SQL in a program calls the time `event_time`.
        """
        check_span("the delay", delay)
        check_column("event_time", column)
        if delay < timedelta(0):
            raise QueryError(
                f"the delay is {delay.total_seconds():g} s, and no record can come before it happened",
                instead="write timedelta(0) or more",
            )
        found = {field.name: field.type for field in self.record.columns}
        if not isinstance(found.get(column), TimestampType):
            raise of_no_time(column, self.producer)
        return Stream(Timed(self.producer, column, delay, record=self.record, place=users_line()))

    def sql(self, text: str, **tables: Stream[Any]) -> Stream[Any]:
        """What SQL makes of this stream, which it calls `this`, and of others by the names given here; records are named tuples."""
        from ouzel.compiler.records import row_record
        from ouzel.dsl.plan import schema_of_query

        check_streams(tables, Stream)
        given = {"this": self.producer, **{name: stream.producer for name, stream in tables.items()}}
        try:
            record = row_record(schema_of_query(text, given))
        except QueryError as error:
            if re.match(r"\s*INSERT\b", text, re.IGNORECASE):
                raise QueryError(
                    "sql() takes one SELECT, and this is an INSERT",
                    instead="leave INSERT INTO out, and call write(sink)",
                ) from None
            if error.problem.startswith("there is no table ") and not tables:
                error.instead = (
                    "this stream is called `this`: write FROM this; give others by name, sql(text, other=stream)"
                )
            raise
        return Stream(Queried(text, given, record=record, place=users_line()))

    # Pairs: the half that a function does not see stays where it is

    def map_values(
        self: Stream[tuple[K, V]], function: Callable[[V], U], *, returns: type[U] | None = None
    ) -> Stream[tuple[K, U]]:
        """Pairs of the same key and what the function gives for the value. The partitioning by key stays."""
        return self._step("map_values", StepKind.MAP, StepPart.VALUE, function, returns)

    def flat_map_values(
        self: Stream[tuple[K, V]], function: Callable[[V], Iterable[U]], *, returns: type[U] | None = None
    ) -> Stream[tuple[K, U]]:
        """Pairs of the same key and each thing that the function gives for the value. The partitioning by key stays."""
        return self._step("flat_map_values", StepKind.FLAT_MAP, StepPart.VALUE, function, returns)

    def filter_values(self: Stream[tuple[K, V]], condition: Callable[[V], object]) -> Stream[tuple[K, V]]:
        """The pairs for whose value the function is true."""
        return self._step("filter_values", StepKind.FILTER, StepPart.VALUE, condition, None)

    def map_keys(
        self: Stream[tuple[K, V]], function: Callable[[K], L], *, returns: type[L] | None = None
    ) -> Stream[tuple[L, V]]:
        """Pairs of what the function gives for the key and the same value."""
        return self._step("map_keys", StepKind.MAP, StepPart.KEY, function, returns)

    def flat_map_keys(
        self: Stream[tuple[K, V]], function: Callable[[K], Iterable[L]], *, returns: type[L] | None = None
    ) -> Stream[tuple[L, V]]:
        """Pairs of each thing that the function gives for the key and the same value."""
        return self._step("flat_map_keys", StepKind.FLAT_MAP, StepPart.KEY, function, returns)

    def filter_keys(self: Stream[tuple[K, V]], condition: Callable[[K], object]) -> Stream[tuple[K, V]]:
        """The pairs for whose key the function is true."""
        return self._step("filter_keys", StepKind.FILTER, StepPart.KEY, condition, None)

    def keys(self: Stream[tuple[K, V]]) -> Stream[K]:
        """The keys."""
        return self._swap("keys", (0,))

    def values(self: Stream[tuple[K, V]]) -> Stream[V]:
        """The values."""
        return self._swap("values", (1,))

    def swap(self: Stream[tuple[K, V]]) -> Stream[tuple[V, K]]:
        """Pairs of the value and the key."""
        return self._swap("swap", (1, 0))

    @overload
    def left_join(self: Stream[tuple[K, V]], other: Stream[tuple[K, U]]) -> Stream[tuple[K, tuple[V, U | None]]]: ...

    @overload
    def left_join(
        self: Stream[tuple[K, V]], other: Service[U], *, returns: type[U] | None = None
    ) -> Stream[tuple[K, tuple[V, U | None]]]: ...

    def left_join(self: Stream[tuple[K, V]], other: Any, *, returns: Any = None) -> Any:
        """Each pair with what the other has for its key, None if nothing.

        What comes later on either side of two streams changes it. A service is asked once for the keys of each batch, when it comes.

        Args:
            other: pairs, or a service: what has `get_many(keys)`, as a version of a store.
            returns: the type of what a service answers, where that does not show now.

        Raises:
            QueryError: there are no pairs, or pairs of another key, or nobody knows what the service answers.
        """
        if isinstance(other, Stream):
            return self._join("left_join", other, stays=True)
        return self._ask("left_join", other, returns)

    def join(self: Stream[tuple[K, V]], other: Stream[tuple[K, U]]) -> Stream[tuple[K, tuple[V, U]]]:
        """Each pair with what the other has for its key, of those for which it has something."""
        return self._join("join", other, stays=False)

    @overload
    def lookup(self: Stream[K], other: Stream[tuple[K, U]]) -> Stream[tuple[K, U | None]]: ...

    @overload
    def lookup(self: Stream[K], other: Service[U], *, returns: type[U] | None = None) -> Stream[tuple[K, U | None]]: ...

    def lookup(self: Stream[Any], other: Any, *, returns: Any = None) -> Any:
        """Each record with what the other, pairs or a service as in `left_join`, has for it as a key, None if nothing."""
        alone: Stream[Any] = self.map(sampling.with_nothing, returns=tuple_of(self.record.hint, bool))
        is_stream = isinstance(other, Stream)
        looked = alone._join("lookup", other, stays=True) if is_stream else alone._ask("lookup", other, returns)
        return looked.map_values(sampling.second, returns=looked.record.hints[1].__args__[1] | None)

    def sum_by_key(
        self: Stream[tuple[K, V]], monoid: Monoid[V, T, R], store: ConnectorTable | None = None
    ) -> Stream[tuple[K, R]]:
        """The values of each key, added up: pairs of a key and its total, which change as values come.

        Whatever follows sees each new total, and that the former one is taken back. Of floats as keys 0.1 + 0.2 and 0.3 are two.

        Args:
            monoid: how values add up.
            store: where the totals are kept for others to read.

        Raises:
            QueryError: there are no pairs, or the monoid does not take such values.
        """
        self._check_sum("sum_by_key", monoid)
        if store is not None:
            check_table("sum_by_key", store, "Store")
        key, value = self.record.hints
        record = pair_of(key, total_hint(monoid, self.record.columns[1].type, value))
        summed = Summed(self.producer, monoid, store, record=record, place=users_line())
        check_laws_of("sum_by_key", summed)
        return Stream(summed)

    def running_sum(self: Stream[tuple[K, V]], monoid: Monoid[V, T, R]) -> Stream[tuple[K, tuple[R | None, V]]]:
        """Each pair with the total of its key before it, None at first: pairs of the key and of (total before, value).

        Pairs come in the order of event time, and those of one moment in that of their values, so that every platform adds them up alike.

        Raises:
            QueryError: there are no pairs, no event time, or no order of the values.
        """
        self._check_sum("running_sum", monoid)
        check_timed("running_sum", "running sums", self.producer)
        key, value = self.record.hints
        kind = self.record.columns[1].type
        if not is_plainly_ordered(kind):
            raise QueryError(
                f"of values of one moment their order decides, and {kind} has none",
                instead="map them to numbers or texts",
            )
        record = pair_of(key, tuple_of(total_hint(monoid, kind, value), value))
        return Stream(RunningSum(self.producer, monoid, record=record, place=users_line()))

    def sum_by_window(
        self: Stream[tuple[K, V]],
        monoid: Monoid[V, T, R],
        size: timedelta,
        slide: timedelta | None = None,
        *,
        zone: str | ZoneInfo = "UTC",
    ) -> Stream[WindowTotal[K, R]]:
        """The values of each key in each window of time, added up once the window has closed.

        Args:
            monoid: how values add up.
            size: how long a window is.
            slide: how far apart windows begin; by default one begins where the last ends.
            zone: the time zone whose days are meant, where windows are of whole days; a day of its clocks may have 23 or 25 hours. The
                records' `window_start` and `window_end` are in UTC all the same.

        Raises:
            QueryError: there are no pairs, no event time, the slide does not divide the size, or there is no such zone.
        """
        self._check_sum("sum_by_window", monoid)
        slide = size if slide is None else slide
        check_windows(size, slide)
        check_timed("sum_by_window", "windows", self.producer)
        by_clock = check_zone(zone, size, slide)
        key, value = self.record.hints
        kind = self.record.columns[1].type
        total = (monoid.signature(kind).result, total_hint(monoid, kind, value))
        record = window_record((self.record.columns[0].type, key), total)
        summed = WindowSum(self.producer, monoid, size, slide, by_clock, record=record, place=users_line())
        check_laws_of("sum_by_window", summed)
        return Stream(summed)

    if not TYPE_CHECKING:

        def __getattr__(self, verb: str) -> object:
            fields = () if verb.startswith("_") or verb == "producer" else self.record.schema.names
            raise AttributeError(advise_of_verb(verb, fields, dir(type(self))))

        def __iter__(self) -> object:
            raise TypeError(f"a stream is a plan, and holds no records to iterate over; {WHOLE}")

        def __aiter__(self) -> object:
            raise TypeError(
                "a stream is a plan, and holds no records to iterate over; write async for change in stream.changes()"
            )

        def __or__(self, other: object) -> object:
            raise TypeError(told_of_pipe(other, isinstance(other, Stream)))

        def __contains__(self, record: object) -> bool:
            raise TypeError(f"a stream is a plan, and holds no records to look for one; {WHOLE}")

        def __len__(self) -> int:
            raise TypeError("a stream is a plan, and has no length; call table() and take len() of that")

        def __bool__(self) -> bool:
            return True

        def __getitem__(self, place: object) -> object:
            raise TypeError(f"a stream is a plan, and holds no records to index; {WHOLE}")

    # How steps are made

    def _step(
        self, verb: str, kind: StepKind, part: StepPart, function: Callable[..., Any], returns: Hint | None
    ) -> Stream[Any]:
        from ouzel.dsl.column_functions import ColumnFunction, columns_given

        place, called = users_line(), f"{verb} {function_name(function)}"
        if not callable(function):
            raise QueryError(
                f"{verb} takes a function, not {function!r:.60}", instead=advise_of_function(verb, function)
            )
        if part is not StepPart.RECORD:
            self._pairs(verb)
        by_columns = isinstance(function, ColumnFunction)
        plain = function.function if isinstance(function, ColumnFunction) else function
        check_arity(plain, called, *columns_given(self.record, part) if by_columns else ())
        declared = None if by_columns else declaration_of(plain, kind, part, returns, place)
        step = PythonStep(kind, part, plain, "", called, place, by_columns, declared=declared)
        check_plain(step.function, called, may_yield=kind is not StepKind.FILTER)
        check_gives(step.function, called)
        warn_of_changes(step.function, called)
        warn_of_chance(step.function, called, self.producer)
        check_no_stream(step.function, called, Runnable)
        variables = variables_of(step.function)
        step = sampling.identified(step, function_id(step.function))
        tried: list[StepKind] = []

        def first_records() -> Iterable[Any] | None:
            tried.append(kind)
            return sampling.given(self.producer, step)

        if kind is StepKind.FILTER:
            check_condition(step.function, first_records, called)
            return Stream(StepTaken(self.producer, step, variables, bool(tried), record=self.record, place=place))
        said = returns if returns is not None else getattr(function, "returns", None) if by_columns else None
        made = result_hint(
            step.function,
            kind,
            said,
            first_records,
            called,
            lambda comes: sampling.find_failed(self.producer, comes),
        )
        record = self._make_record(part, made)
        return Stream(StepTaken(self.producer, step, variables, bool(tried), record=record, place=place))

    def _make_record(self, part: StepPart, hint: Hint) -> RecordType:
        if part is StepPart.RECORD:
            return record_of(hint)
        type_of(hint)
        key, value = self.record.hints
        return pair_of(hint, value) if part is StepPart.KEY else pair_of(key, hint)

    def _pairs(self, verb: str) -> None:
        if not self.record.is_pair:
            raise QueryError(
                f"{verb} needs pairs of a key and a value, and these records are {self.record}",
                instead="map them to (key, value) first",
            )

    def _check_sum(self, verb: str, monoid: object) -> None:
        self._pairs(verb)
        check_monoid(verb, monoid)

    def _join(self, verb: str, other: Stream[Any], stays: bool) -> Stream[Any]:
        self._pairs(verb)
        other._pairs(verb)
        (key, value), theirs = self.record.hints, other.record
        if theirs.columns[0].type != self.record.columns[0].type:
            raise QueryError(
                f"{verb} joins pairs of one type of key, not {self.record} and {theirs}",
                instead=advise_of_keys(key, theirs.hints[0]),
            )
        record = pair_of(key, tuple_of(value, theirs.hints[1]))
        return Stream(JoinedPairs(self.producer, other.producer, stays, record=record, place=users_line()))

    def _ask(self, verb: str, service: Any, returns: Hint | None) -> Stream[Any]:
        self._pairs(verb)
        if not callable(getattr(service, "get_many", None)):
            raise of_no_service(verb, service)
        called, (key, value) = type(service).__name__, self.record.hints
        check_plain(service.get_many, f"get_many of {called}", may_yield=False)
        found = returns if returns is not None else sampling.hint_of_service(self.producer, service)
        if found is None:
            raise QueryError(
                f"what {called} answers does not show before the program runs",
                instead=f"write {verb}(service, returns=str)",
            )
        record = pair_of(key, tuple_of(value, found))
        return Stream(AskedPairs(self.producer, service, called, record=record, place=users_line()))

    def _swap(self, verb: str, places: tuple[int, ...]) -> Stream[Any]:
        self._pairs(verb)
        hints = [self.record.hints[place] for place in places]
        record = record_of(hints[0] if len(hints) == 1 else tuple[tuple(hints)])  # type: ignore[misc]
        return Stream(Swapped(self.producer, places, record=record, place=users_line()))

    def _bind(self, expression: Expr) -> Any:
        return expression.bind(self.record.schema)
