"""What can be done to a topology from its page, as a table, and the command that does each.

Each action is a command of the command line, run as a process of its own: so there is one implementation of it, the user's code that an
update loads never comes into the server of the pages, and a command goes on to its end though that server ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ouzel.errors import OuzelError, SubmissionError
from ouzel.runtime.process.asks import MINUTES_MAX, LogLevelName
from ouzel.runtime.protocol.cluster.submitted import Condition, Do, Verb, check_name, decide

Fields = Mapping[str, str]
"""What was filled into the form of an action."""

_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_MINUTES = re.compile(r"[1-9][0-9]{0,3}")

LEVELS = tuple(level.value for level in LogLevelName)


class ActionRefused(OuzelError):
    """What was filled into the form cannot be done."""


@dataclass(frozen=True)
class Target:
    """What an action is done to: the topology's name, and where savepoints go."""

    name: str
    savepoint: Path


@dataclass(frozen=True)
class Action:
    """One action.

    Attributes:
        key: its name in addresses.
        title: its name on the page.
        verb: which decides whether it fits how the topology stands.
        what: what becomes of the topology, for who is to confirm it.
        arguments: the command, after `ouzel`.
        asks: the fields that its form has, besides the confirmation: part, parallelism, level, minutes or name.
    """

    key: str
    title: str
    verb: Verb
    what: str
    arguments: Callable[[Target, Fields], list[str]]
    asks: frozenset[str] = frozenset()


def _plain(command: str) -> Callable[[Target, Fields], list[str]]:
    return lambda target, _: [command, "--", target.name]


def _part(fields: Fields) -> list[str]:
    part = fields.get("part", "")
    return [part] if part else []


def _restart(target: Target, fields: Fields) -> list[str]:
    return ["restart", "--", target.name, *_part(fields)]


def _rescale(target: Target, fields: Fields) -> list[str]:
    wanted = {name.removeprefix("tasks."): value for name, value in fields.items() if name.startswith("tasks.")}
    changed = {name: tasks for name, tasks in wanted.items() if tasks != fields.get(f"had.{name}")}
    if not changed:
        raise ActionRefused(
            "no component has another number of tasks than before; write one, or go back to the topology"
        )
    for name, tasks in changed.items():
        if not _NUMBER.fullmatch(tasks):
            raise ActionRefused(f"'{tasks}' is no number of tasks of '{name}'; write a whole number from 1 on")
    return ["update", *(f"--parallelism={name}={tasks}" for name, tasks in changed.items()), "--", target.name]


def _minutes(fields: Fields) -> str:
    if not _MINUTES.fullmatch(minutes := fields.get("minutes", "")) or int(minutes) > MINUTES_MAX:
        raise ActionRefused(f"'{minutes}' is no number of minutes; write a whole number from 1 to {MINUTES_MAX}")
    return minutes


def _log_level(target: Target, fields: Fields) -> list[str]:
    if (level := fields.get("level", "")) not in LEVELS:
        raise ActionRefused(f"'{level}' is no level; write one of {', '.join(LEVELS)}")
    return ["log-level", f"--minutes={_minutes(fields)}", "--", target.name, level, *_part(fields)]


def _sample(target: Target, fields: Fields) -> list[str]:
    return ["sample", f"--minutes={_minutes(fields)}", "--", target.name, *_part(fields)]


def _kill(target: Target, fields: Fields) -> list[str]:
    if fields.get("name") != target.name:
        raise ActionRefused(f"'{fields.get('name', '')}' is not its name; write '{target.name}' to have it removed")
    return ["kill", "--", target.name]


def _savepoint(target: Target, _fields: Fields) -> list[str]:
    return ["stop", f"--savepoint={target.savepoint}", "--", target.name]


_LISTED = (
    Action(
        "pause",
        "Pause",
        Verb.PAUSE,
        "Its sources stop reading, and what is on its way is handled. Windows stay open.",
        _plain("pause"),
    ),
    Action("resume", "Resume", Verb.RESUME, "Its sources read on where they were paused.", _plain("resume")),
    Action(
        "restart",
        "Restart",
        Verb.RESTART,
        "What you choose ends at once, and is started again. A part that keeps state is refused if that would be lost.",
        _restart,
        frozenset({"part"}),
    ),
    Action(
        "rescale",
        "Rescale",
        Verb.UPDATE,
        "It stops with a last epoch, and goes on from that with these numbers of tasks. Its state is kept.",
        _rescale,
        frozenset({"parallelism"}),
    ),
    Action(
        "log-level",
        "Log level",
        Verb.LOG_LEVEL,
        "The processes of what you choose log from this level on, for some minutes. Then they go back by themselves.",
        _log_level,
        frozenset({"part", "level", "minutes"}),
    ),
    Action(
        "sample",
        "Sample rows",
        Verb.SAMPLE,
        "What you choose keeps the last rows that pass its operators, for some minutes. All who may see this page see them.",
        _sample,
        frozenset({"part", "minutes"}),
    ),
    Action(
        "stop",
        "Stop",
        Verb.STOP,
        "What is on its way is handled, then all its processes end. It can be started again.",
        _plain("stop"),
    ),
    Action(
        "savepoint",
        "Stop with savepoint",
        Verb.SAVEPOINT,
        "It stops with a last epoch, which is copied into a folder with all that another topology needs to go on from it.",
        _savepoint,
    ),
    Action("start", "Start", Verb.START, "It is started again, as `ouzel start` does.", _plain("start")),
    Action(
        "kill",
        "Kill",
        Verb.KILL,
        "It ends at once, and is removed. Its results, its state and its logs go with it. Tables that it wrote stay.",
        _kill,
        frozenset({"name"}),
    ),
)

ACTIONS: Mapping[str, Action] = {action.key: action for action in _LISTED}
"""By key, in the order in which pages show them."""

BREAKING = frozenset({"kill", "stop", "savepoint"})
"""What cannot be undone by a click."""


def fitting_actions(name: str, condition: Condition) -> Iterator[Action]:
    """The actions that fit how a topology stands."""
    for action in ACTIONS.values():
        is_needless = action.key == "resume" and condition is Condition.RUNNING
        is_done = action.key == "pause" and condition is Condition.PAUSED
        if not is_needless and not is_done and isinstance(decide(action.verb, name, condition), Do):
            yield action


def find_action(key: str) -> Action:
    """The action of that key.

    Raises:
        SubmissionError: there is none.
    """
    if key not in ACTIONS:
        raise SubmissionError(f"there is no action '{key}'; write one of {', '.join(ACTIONS)}")
    return ACTIONS[key]


def savepoint_folder(home: Path, name: str, time_text: str) -> Path:
    """Where a savepoint goes that is asked for from a page: below OUZEL_HOME, whatever the request says.

    Raises:
        SubmissionError: this cannot be the name of a topology.
    """
    return home / "savepoints" / f"{check_name(name)}-{time_text}"
