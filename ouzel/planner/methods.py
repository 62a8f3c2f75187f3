"""Whether a spout or bolt by hand can be called: it has the method that its base asks for, and each takes what it is given."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence, MutableSet, Sequence
from types import CodeType
from typing import Any, TypeVar

from ouzel.callers import check_binding, users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.user_code import find_change, gives_none, instructions_of
from ouzel.errors import PlanError
from ouzel.planner.elsewhere import NEVER_CALLED
from ouzel.spans import microseconds_of

F = TypeVar("F", bound=Callable[..., Any])

MEANT = {
    "next_tuple": "next_batch", "nextTuple": "next_batch", "next": "next_batch", "next_row": "next_batch",
    "process": "execute", "handle": "execute", "execute_batch": "execute", "on_batch": "execute",
}  # fmt: skip
"""What other libraries, or other bases here, call the method that is asked for."""

BASE_OF = {"next_row": "ouzel.RowSpout", "process": "ouzel.BasicBolt", "handle": "ouzel.RowBolt"}
"""Which base calls a method of this name."""


def check_asked(component: str, user: object, base: type, asked: str) -> None:
    """See that a class of the user's has one of the methods that its base is made of.

    Args:
        component: its name, for the message.
        user: the spout or bolt.
        base: the class here that it comes of.
        asked: the method that is to be written.

    Raises:
        PlanError: it has not.
    """
    if inspect.getattr_static(user, asked) is not inspect.getattr_static(base, asked):
        return
    own = {name for one in _own_classes(user) for name in vars(one)}
    meant = next((name for name in sorted(own) if name in MEANT or name in BASE_OF), "")
    advice = f"write def {asked}({_spell(getattr(base, asked))}) in {type(user).__name__}"
    if meant:
        advice += f" instead of {meant}"
    if meant in BASE_OF and BASE_OF[meant] != f"ouzel.{base.__name__}":
        advice += f", or derive it from {BASE_OF[meant]}, which calls {meant}"
    raise PlanError(f"'{component}' is a {base.__name__} and has no method {asked}; {advice}")


def check_number(component: str, user: object, name: str, value: object) -> None:
    """See that an attribute that says how often or how many is a number.

    Raises:
        PlanError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        span_us = microseconds_of(value)
        instead = f"{span_us // 1_000}" if span_us and name.endswith("_ms") else "100"
        raise PlanError(
            f"{name} of '{component}' is {value!r:.60}, and no number; write {name} = {instead} in {type(user).__name__}"
        )


def check_takes(component: str, user: object, base: type) -> None:
    """See that the methods of a base that a class of the user's has take the arguments that they are called with.

    Raises:
        PlanError: one does not.
    """
    for name, method in vars(base).items():
        if inspect.isfunction(method) and not name.startswith("_") and name != "handle":
            given = list(inspect.signature(method).parameters)[1:]
            check_call(component, getattr(user, name), name, given)


def check_call(component: str, method: Callable[..., Any], name: str, given: Sequence[str]) -> None:
    """See that a method takes so many arguments.

    Raises:
        PlanError: it does not.
    """
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):  # not written in Python
        return
    try:
        signature.bind(*given)
    except TypeError:
        raise PlanError(
            f"{name} of '{component}' takes {_list(signature.parameters)}, and is called with {_list(given)}; "
            f"write {_spell_def(name, given)}"
        ) from None


def _spell_def(name: str, given: Sequence[str]) -> str:
    """How a method of this name is written, or a function that has none."""
    return f"def {name}({', '.join(['self', *given])})" if name.isidentifier() else f"lambda {', '.join(given)}: …"


def check_grouped(verb: str, component: str, names: Sequence[object]) -> None:
    """See that the columns of a grouping are given by their names.

    Raises:
        PlanError: they are not.
    """
    if not names:
        raise PlanError(
            f"{verb} of '{component}' names no column, so that nothing says which task gets a row; "
            f"write {verb}({component!r}, 'column'), or shuffle_grouping({component!r})"
        )
    wrong = next((one for one in names if not isinstance(one, str)), None)
    if wrong is None:
        return
    parts = list(wrong) if isinstance(wrong, list | tuple) else [wrong]
    written = ", ".join(repr(str(one)) if str(one).isidentifier() else "'column'" for one in parts) or "'column'"
    kind = {"Expr": "expression"}.get(type(wrong).__name__, type(wrong).__name__)
    raise PlanError(
        f"{verb} takes names of columns, not the {kind} {wrong!s:.60}; write {verb}({component!r}, {written})"
    )


def check_chooser(component: str, read: str, chooser: object) -> None:
    """See that what deals rows to the tasks of a component is a function of a frame and a number of tasks.

    Raises:
        PlanError: it is not.
    """
    if not callable(chooser):
        raise PlanError(
            f"custom_grouping of '{component}' takes a function, not {chooser!r:.60}; "
            f"write custom_grouping({read!r}, lambda frame, tasks: frame['n'].to_numpy() % tasks)"
        )
    check_call(component, chooser, "the chooser of a custom_grouping", ["frame", "tasks"])


def warn_of_no_end(component: str, user: object) -> None:
    """Warn of a spout whose `next_batch` gives None whatever happens: None is nothing now, so its run does not end."""
    found = inspect.getattr_static(user, "next_batch")
    if inspect.isfunction(found) and gives_none(found):
        warnings.warn(
            f"next_batch of '{component}' never returns anything, so its run does not end; "
            "return True while there may be more, and False at the end",
            QueryWarning,
            stacklevel=users_level(),
        )


def warn_of_no_acks(component: str, user: object) -> None:
    """Warn of a bolt none of whose methods acks or fails, and whose `execute` does not hand on what it would do so by: its input is never
    handled, and the run does not end."""
    codes = [code for one in _own_classes(user) for code in _codes(one)]
    execute = getattr(getattr(type(user), "execute", None), "__code__", None)
    if execute is None or any(name in code.co_names for code in codes for name in ("ack", "fail", "getattr")):
        return
    collectors = [code.co_varnames[2] for code in [execute] if code.co_argcount == 3]
    if collectors and not _is_handed_on(execute, collectors[0]):
        warnings.warn(
            f"'{component}' neither acks nor fails a batch, so that its run does not end; write collector.ack(batch) "
            "at the end of execute, or derive it from ouzel.BasicBolt, which acks what process has handled",
            QueryWarning,
            stacklevel=users_level(),
        )


def warn_of_uncalled(component: str, user: object) -> None:
    """Warn of a method that Storm, Heron or streamparse would call, and that nothing calls here, its own class neither."""
    classes = _own_classes(user)
    called = {name for one in classes for code in _codes(one) for name in code.co_names}
    for name in dict.fromkeys(name for one in classes for name, made in vars(one).items() if inspect.isfunction(made)):
        if name in NEVER_CALLED and name not in called:
            warnings.warn(
                f"nothing calls {name} of '{component}'; write def {NEVER_CALLED[name]}",
                QueryWarning,
                stacklevel=users_level(),
            )


def warn_of_late_emits(component: str, user: object) -> None:
    """Warn of a bolt whose `close` emits: nothing is sent any more when it is called."""
    close = inspect.getattr_static(user, "close")
    if inspect.isfunction(close) and "emit" in close.__code__.co_names:
        warnings.warn(
            f"close of '{component}' emits when nothing is sent any more; write def finish(self, collector), and emit there",
            QueryWarning,
            stacklevel=users_level(),
        )


def warn_of_shared(component: str, user: object) -> None:
    """Warn of a list, set or dict that is an attribute of the class, and that a method changes: the tasks of a process share it."""
    classes = _own_classes(user)
    own = vars(user).keys() | _set_when_opened(classes)
    changed = {name for one in classes for code in _codes(one) for name in _changed_attributes(code)}
    for owner in classes:
        for name, value in vars(owner).items():
            is_kept = isinstance(value, MutableMapping | MutableSequence | MutableSet) and not name.isupper()
            if is_kept and name in changed - own:
                own.add(name)
                warnings.warn(
                    f"'{component}' keeps {owner.__name__}.{name}, an attribute of the class, which all its tasks in one process "
                    f"share; make it in open: self.{name} = {_spell_new(owner, name, value)}",
                    QueryWarning,
                    stacklevel=users_level(),
                )


def _set_when_opened(classes: Sequence[type]) -> set[str]:
    """Attributes that `open` sets, and the methods that it calls."""
    opens = [code for one in classes for code in _codes(one) if code.co_name == "open"]
    called = {name for code in opens for name in code.co_names}
    codes = [code for one in classes for code in _codes(one) if code.co_name in called]
    lines = (line for code in (*opens, *codes) for line in instructions_of(code))
    return {line.argval for line in lines if line.opname == "STORE_ATTR"}


def _changed_attributes(code: CodeType) -> Iterator[str]:
    """Attributes that the code changes, or something in them."""
    made = instructions_of(code)
    for place, one in enumerate(made):
        if one.opname == "LOAD_ATTR" and find_change(made, place) is not None:
            yield one.argval


def _spell_new(owner: type, name: str, value: Any) -> str:
    """How a task makes its own."""
    if value:
        return f"{owner.__name__}.{name}.copy()"
    factory = value.default_factory if isinstance(value, defaultdict) else ""
    return f"{type(value).__name__}({factory.__name__ if isinstance(factory, type) else factory and '…'})"


def _is_handed_on(code: CodeType, variable: str) -> bool:
    """Whether the code does something else with this variable than to call its `emit` or `progress`."""
    lines = instructions_of(code)
    reads = [place for place, one in enumerate(lines) if one.argval == variable and one.opname.startswith("LOAD")]
    in_cells = variable in code.co_cellvars
    return in_cells or any(lines[place + 1].argval not in ("emit", "progress", "monotonic_ms") for place in reads)


def _codes(owner: type) -> Iterator[CodeType]:
    """The code of the functions of a class, with what is nested in it."""
    waiting = [code for one in vars(owner).values() if (code := getattr(one, "__code__", None)) is not None]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [one for one in code.co_consts if inspect.iscode(one)]


def _own_classes(user: object) -> list[type]:
    """The user's classes: those below the ones of Ouzel."""
    return [one for one in type(user).__mro__ if one is not object and not one.__module__.startswith("ouzel.")]


def _spell(method: Callable[..., Any]) -> str:
    shown = [
        f"*{name}" if one.kind is one.VAR_POSITIONAL else name
        for name, one in inspect.signature(method).parameters.items()
    ]
    return ", ".join(shown)


def _list(names: Sequence[str] | Any) -> str:
    return f"({', '.join(names)})" if names else "nothing"


def advise_of_object(user: object, kind: str) -> str:
    """What to write instead of what is no spout or bolt, whichever `kind` is asked for."""
    row = (
        "ouzel.RowBolt, whose handle is called with each row"
        if kind == "Bolt"
        else "ouzel.RowSpout, whose next_row gives each row"
    )
    if isinstance(user, type):
        takes = inspect.signature(user).parameters.values()
        asked = any(one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD for one in takes)
        return f"pass an object of the class: {user.__name__}({'…' if asked else ''})"
    if callable(user):
        return f"write a class of {row}"
    if type(user).__name__ == "Stream":
        return "a stream is a topology by itself: call table(), run() or start() of it"
    if type(user).__module__ == "__main__":
        return f"derive its class from one: class {type(user).__name__}(ouzel.{kind}); or from {row}"
    return f"pass an object of one, as of a class of {row}"


def check_component_call(method: F) -> F:
    """A method of the builder, which says how it is called where it is given arguments that it does not take."""

    def refuse(error: TypeError, named: dict[str, Any]) -> PlanError:
        kind = method.__name__.removeprefix("set_")
        advice = f"write {method.__name__}(name, {kind}, ouzel.schema(word=str), parallelism=2)"
        return PlanError(f"{method.__name__} of a topology builder: {error}; {advice}")

    return check_binding(method, refuse)
