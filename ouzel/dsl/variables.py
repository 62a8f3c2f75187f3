"""Variables around a function of the user's: what it changes of them, and what has become of them since its step was written."""

from __future__ import annotations

import dis
import inspect
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise, takewhile
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import cloudpickle

from ouzel.callers import users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.user_code import find_change, instructions_of
from ouzel.dsl.producers import Producer, StepTaken, has_changes
from ouzel.errors import QueryError

DRAWN = {
    "random": ("random", "randint", "uniform", "choice", "choices", "sample", "gauss", "randrange", "getrandbits", "normalvariate"),
    "uuid": ("uuid4", "uuid1"),
    "secrets": ("token_hex", "token_bytes", "token_urlsafe", "randbelow", "choice"),
    "time": ("time", "time_ns", "monotonic", "perf_counter"),
    "datetime": ("now", "utcnow", "today"),
    "date": ("today",),
    "numpy.random": ("rand", "randn", "randint", "random", "normal", "choice", "uniform"),
}  # fmt: skip
"""Functions of modules that give another value each time."""

NEAR = 4
"""Within so many instructions of one another a value is computed and stored."""

PLAIN = (str, bytes, int, float, bool, date, timedelta, Decimal, type(None))
"""Variables that are compared to see whether a variable has changed."""

KEEPS = "keep what is to be known of a key by sum_by_key(monoid)"

Variables = Mapping[str, object]


def warn_of_changes(function: Callable[..., Any], called: str) -> None:
    """Warn of a function that changes a variable around it: each task has one of its own, and the program's stays as it is."""
    name = _counted(function)
    if name:
        told = (
            f"counts in the global {name!r}, of which each task has one of its own, and the program's stays as it is; "
            f"write ouzel.counter({name!r}).add(), and read run.status().counters"
        )
    elif changed := next(_changed(function), ""):
        told = f"changes {changed}, of which each task has one of its own, and the program's stays as it is; {KEEPS}"
    else:
        return
    warnings.warn(f"{called} {told}", QueryWarning, stacklevel=users_level())


def warn_of_chance(function: Callable[..., Any], called: str, below: Producer) -> None:
    """Warn of a function behind a sum that gives something else each time it is called: it is called for the former total again."""
    plain = _plain(function) if has_changes(below) else None
    drawn = next(_find_drawn(plain), "") if plain is not None else ""
    if drawn:
        warnings.warn(
            f"{called} asks {drawn}, and gives another record each time: behind a sum it is called for the former total again, to take "
            "back what it made of that, and finds something else; call it before the sum",
            QueryWarning,
            stacklevel=users_level(),
        )


def _find_drawn(function: FunctionType) -> Iterator[str]:
    """What the function asks of chance or of the clock."""
    around, made = _around(function), instructions_of(function.__code__)
    for place, one in enumerate(made):
        if one.opname not in ("LOAD_GLOBAL", "LOAD_DEREF"):
            continue
        owner = around.get(one.argval)
        if isinstance(owner, FunctionType | BuiltinFunctionType | MethodType):
            home = owner.__module__ if isinstance(owner, FunctionType) else type(owner.__self__).__module__
            home = home if home in DRAWN else owner.__module__ or ""
            yield from [f"{home}.{owner.__name__}"] if owner.__name__ in DRAWN.get(home, ()) else []
        for then in takewhile(lambda then: then.opname in ("LOAD_ATTR", "LOAD_METHOD"), made[place + 1 :]):
            if not isinstance(owner, ModuleType | type):
                break
            if then.argval in DRAWN.get(owner.__name__, ()):
                yield f"{owner.__name__}.{then.argval}"
            owner = vars(owner).get(then.argval)


def copy_for_trial(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function to be tried on the first records: a copy if it changes something around it, so that a run begins with what was there."""
    if not _counted(function) and not next(_changed(function), ""):
        return function
    try:
        copied: Callable[..., Any] = pickle.loads(cloudpickle.dumps(function))
    except Exception:  # what cannot be sent to tasks is refused in its place
        return function
    return copied


def check_no_stream(function: Callable[..., Any], called: str, streams: type) -> None:
    """See that a function does not use one of these streams: it would run it, or plan one, for each record.

    Raises:
        QueryError: it does.
    """
    plain = _plain(function)
    around = {} if plain is None else _around(plain)
    for one in instructions_of(plain.__code__) if plain is not None else ():
        if one.opname in ("LOAD_GLOBAL", "LOAD_DEREF") and isinstance(around.get(one.argval), streams):
            raise QueryError(
                f"{called} uses the stream {one.argval!r}, which would run for each record",
                instead=f"map to pairs by the same key, and join: a.map(lambda record: (key, record)).left_join({one.argval})",
            )


def variables_of(function: Callable[..., Any]) -> Variables:
    """The plain values of the variables around a function that it reads and does not set."""
    plain = _plain(function)
    if plain is None:
        return {}
    made = instructions_of(plain.__code__)
    read = {one.argval for one in made if one.opname in ("LOAD_GLOBAL", "LOAD_DEREF")}
    own = {one.argval for one in made if one.opname in ("STORE_GLOBAL", "STORE_DEREF")}
    around = _around(plain)
    return {name: around[name] for name in sorted(read - own) if isinstance(around.get(name, ...), PLAIN)}


def warn_of_later_values(graph: Iterable[Producer]) -> None:
    """Warn of functions one of whose variables has another value than when their step was written: they are called with the last."""
    for one in graph:
        if isinstance(one, StepTaken):
            _warn_of_later_values(one)


def _warn_of_later_values(taken: StepTaken) -> None:
    now, step = variables_of(taken.step.function), taken.step
    for name, value in taken.variables.items():
        if name in now and repr(now[name]) != repr(value):  # a NaN is not equal to itself
            warnings.warn(
                f"{step.called} (at {step.place}) uses {name!r}, which was {value!r:.60} when the step was written, and is "
                f"{now[name]!r:.60} when it runs; to keep the former write lambda record, {name}={name}: …",
                QueryWarning,
                stacklevel=users_level(),
            )


def _plain(function: Callable[..., Any]) -> FunctionType | None:
    """The function that is called; None if it is not written in Python."""
    while isinstance(function, partial):
        function = function.func
    found = function if inspect.isroutine(function) or isinstance(function, type) else type(function).__call__
    found = found.__func__ if inspect.ismethod(found) else found
    return found if isinstance(found, FunctionType) else None


def _around(function: FunctionType) -> Variables:
    """Variables that are not the function's own: those of its module, and of functions that it stands in."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells if _is_set(cell)}}


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is not ...
    except ValueError:
        return False


def _counted(function: Callable[..., Any]) -> str:
    """The global that the function adds to; empty if there is none."""
    made = instructions_of(function.__code__) if inspect.isfunction(function) else ()
    for one, then in pairwise(made):
        if then.opname == "STORE_GLOBAL" and _is_added(one):
            return str(then.argval)
    return ""


def _is_added(one: dis.Instruction) -> bool:
    return one.opname == "BINARY_OP" and one.argrepr.endswith("=")


def _changed(function: Callable[..., Any]) -> Iterator[str]:
    """What the function changes, in words."""
    plain = _plain(function)
    if plain is None:
        return
    made = instructions_of(plain.__code__)
    around, defaults, own = _around(plain), _defaults(plain), _own_attributes(function)
    for place, one in enumerate(made):
        value = around.get(one.argval) if one.opname in ("LOAD_GLOBAL", "LOAD_DEREF") else None
        said = f"the variable {one.argval!r}"
        if one.opname == "LOAD_ATTR" and place and made[place - 1].argval == "self":
            value, said = own.get(one.argval), f"its attribute {one.argval!r}"
        if one.opname == "LOAD_FAST" and one.argval in defaults:
            value, said = defaults[one.argval], f"its argument {one.argval!r}, whose default is made once"
        if isinstance(value, MutableSequence | MutableSet | MutableMapping) and _is_changed(made, place):
            yield said
        if one.opname == "STORE_ATTR" and any(map(_is_added, made[max(0, place - NEAR) : place])):
            yield f"the attribute {one.argval!r}"


def _own_attributes(function: Callable[..., Any]) -> Variables:
    """The attributes of the object that is called, or whose method is."""
    while isinstance(function, partial):
        function = function.func
    owner = function.__self__ if inspect.ismethod(function) else function
    try:
        return {} if inspect.isroutine(owner) else vars(owner)
    except TypeError:  # it has slots
        return {}


def _defaults(function: FunctionType) -> Variables:
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def _is_changed(made: Sequence[dis.Instruction], place: int) -> bool:
    """Whether what is loaded here is changed, other than by an item that is only stored: what is computed once for each key is right in
    each task, and what is added up is not."""
    at = find_change(made, place)
    if at is None or made[at].opname != "STORE_SUBSCR":
        return at is not None
    return made[place - 1].opname == "BINARY_OP" or any(map(_is_added, made[place:at]))
