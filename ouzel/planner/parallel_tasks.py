"""Spouts and bolts by hand that are right in one task and wrong in several: each reads the same file, or counts a part of each key."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dis import Instruction
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from ouzel.callers import users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.user_code import find_change, instructions_of
from ouzel.planner.methods import codes_of, own_classes
from ouzel.planner.topology import Component, GroupingKind

READERS = frozenset(
    {"read_csv", "scan_csv", "read_parquet", "scan_parquet", "read_ndjson", "scan_ndjson", "read_ipc", "scan_ipc"}
)
"""Functions that read a file, beside `open`."""

DIVIDED_BY = frozenset(
    {
        "index", "parallelism", "task", "getattr", "getpid", "environ", "getenv", "flock", "lockf", "rename", "link", "symlink",
        "gethostname", "random", "randint", "choice", "uuid4", "seek", "cycle",
    }
)  # fmt: skip
"""Names by which a task may know its own part of the work, or by which it reads again what it has read, as a load test does."""

TAKEN_BY = frozenset({"readline", "readlines", "read", "pop", "popleft"})
"""Methods by which rows are taken from what was opened."""


def warn_of_same_file(component: str, user: object, tasks: int) -> None:
    """Warn of a spout of several tasks, each of which reads one file from its beginning to its end."""
    codes = [code for one in own_classes(user) for code in codes_of(one)]
    if tasks < 2 or any(name in DIVIDED_BY for code in codes for name in code.co_names) or _hands_on_context(codes):
        return
    path = file_read_by(user)
    if path:
        warnings.warn(
            f"each of the {tasks} tasks of '{component}' reads the whole of {path}, so that each row comes {tasks} times; write "
            "parallelism=1, or leave out in each task what is another's, by context.index and context.parallelism",
            QueryWarning,
            stacklevel=users_level(),
        )


def file_read_by(user: object) -> str:
    """The file that a spout opens once and then takes its rows from; empty where that is not sure, or the file is not there."""
    codes = [code for one in own_classes(user) for code in codes_of(one)]
    opened = list(_list_opened(user))
    if {method for *_, method in opened} != {"open"}:  # it is opened again, or there is none
        return ""
    return next((path for path, name, _ in opened if any(_takes_from(code, name) for code in codes)), "")


def _hands_on_context(codes: Sequence[CodeType]) -> bool:
    """Whether `open` does something with its context that is not seen here."""
    opens = [code for code in codes if code.co_name == "open" and code.co_argcount == 2]
    return any(
        one.opname.startswith("LOAD") and one.argval == code.co_varnames[1]
        for code in opens
        for one in instructions_of(code)
    )


def _list_opened(user: object) -> Iterator[tuple[str, str, str]]:
    """Files that are there and that methods open: the path, the attribute that what was opened becomes, and the method."""
    for method in _methods(user):
        yield from _opened_in(method, user)


def _methods(user: object) -> Iterator[FunctionType]:
    """The methods of the user's classes that no other takes the place of."""
    for owner in own_classes(user):
        for name, method in vars(owner).items():
            if isinstance(method, FunctionType) and inspect.getattr_static(type(user), name) is method:
                yield method


def _opened_in(method: FunctionType, user: object) -> Iterator[tuple[str, str, str]]:
    made = instructions_of(method.__code__)
    for place, one in enumerate(made):
        is_open = one.argval == "open" and one.opname == "LOAD_GLOBAL" and "open" not in method.__globals__
        if not is_open and not (one.opname in ("LOAD_ATTR", "LOAD_METHOD") and one.argval in READERS):
            continue
        stored = next((then for then in made[place:] if then.opname.startswith(("STORE", "POP_TOP", "BEFORE"))), None)
        path = _path_at(made, place + 1, method, user)
        if (
            stored is not None
            and stored.opname == "STORE_ATTR"
            and isinstance(path, str | Path)
            and Path(path).is_file()
        ):
            yield str(path), stored.argval, method.__name__


def _path_at(made: Sequence[Instruction], place: int, method: FunctionType, user: object) -> object:
    """The value of a constant, a global or an attribute of the user's that is loaded here; None if it is something else."""
    one, then = made[place : place + 2]
    if one.opname == "LOAD_CONST":
        return one.argval
    if one.opname == "LOAD_GLOBAL":
        return method.__globals__.get(one.argval)
    if one.argval == "self" and then.opname == "LOAD_ATTR":
        return vars(user).get(then.argval, inspect.getattr_static(user, then.argval, None))
    return None


def _takes_from(code: CodeType, attribute: str) -> bool:
    """Whether the code takes the next of what this attribute gives."""
    made = instructions_of(code)
    for place, one in enumerate(made[:-1]):
        if one.opname == "LOAD_ATTR" and one.argval == attribute:
            before = made[place - 2].argval if place > 1 else None
            if before == "next" or made[place + 1].argval in TAKEN_BY:
                return True
    return False


def warn_of_split_totals(components: Sequence[Component]) -> None:
    """Warn of a bolt of several tasks that counts by a key, gets its rows dealt by no key, and gives its totals at the end to no other."""
    read = {link.component for one in components for link in one.inputs}
    by_name = {one.name: one for one in components}
    for one in components:
        dealt = {link.grouping.kind for link in one.inputs}
        if one.parallelism < 2 or one.name in read or dealt != {GroupingKind.SHUFFLE} or len(one.inputs) != 1:
            continue
        if one.outputs and (name := _counted_till_the_end(one.user)):
            above = one.inputs[0].component
            columns = next(
                (each.schema.names for each in by_name[above].outputs if each.stream == one.inputs[0].stream), ()
            )
            key = next((column for column in columns if column in one.outputs[0].schema.names), "column")
            warnings.warn(
                f"each of the {one.parallelism} tasks of '{one.name}' counts in self.{name} those rows that shuffle_grouping gives it, so "
                f"that a key may have a total in each; write fields_grouping({above!r}, {key!r}), or parallelism=1, or add the totals "
                "up in a bolt behind it",
                QueryWarning,
                stacklevel=users_level(),
            )


def _counted_till_the_end(user: Any) -> str:
    """The attribute in which `execute` counts by a key and which only `finish` emits; empty if there is none."""
    codes = {code for one in own_classes(user) for code in codes_of(one)}
    names = {name for code in codes for name in code.co_names}
    emitting = [code for code in codes if "emit" in code.co_names]
    if names & DIVIDED_BY or [code.co_name for code in emitting] != ["finish"]:
        return ""
    counters = {name for one in _methods(user) for name in _made_counters(one.__code__)}
    executed = (one.__code__ for one in _methods(user) if one.__name__ == "execute")
    counted = (name for code in executed for name in _counted_by_key(code, counters))
    return next((name for name in counted if name in emitting[0].co_names), "")


def _made_counters(code: CodeType) -> Iterator[str]:
    """Attributes that are set to a Counter without anything in it."""
    made = instructions_of(code)
    for place, one in enumerate(made):
        if one.opname == "STORE_ATTR" and any(
            before.argval == Counter.__name__ for before in made[max(0, place - 5) : place]
        ):
            yield one.argval


def _counted_by_key(code: CodeType, counters: set[str]) -> Iterator[str]:
    """Attributes to whose items the code adds, of a key that it does not name itself."""
    made = instructions_of(code)
    for place, one in enumerate(made):
        at = find_change(made, place) if one.opname == "LOAD_ATTR" else None
        if at is None:
            continue
        is_added = any(then.opname == "BINARY_OP" and then.argrepr == "+=" for then in made[place:at])
        is_item = made[at].opname == "STORE_SUBSCR" and made[place + 1].opname != "LOAD_CONST" and is_added
        if is_item or (made[at].argval == "update" and one.argval in counters):
            yield one.argval
