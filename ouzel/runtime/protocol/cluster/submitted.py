"""Submitted topologies, without I/O: their names, what is recorded of each, and which command fits how one stands.

A command either fits, or is refused with one sentence that says how the topology stands and what to write instead. Every pair of a command
and a condition is decided here; what no rule names is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from enum import Enum

from ouzel.errors import SubmissionError

NAME_CHARACTERS_MAX = 64

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Condition(Enum):
    """How a submitted topology stands, as far as its processes and its record tell."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    INTERRUPTED = "interrupted"
    """It should run, and its processes are gone: they were killed, or the machine was started anew."""
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


class Verb(Enum):
    """What users ask of a submitted topology."""

    SUBMIT = "submit"
    STATUS = "status"
    LOGS = "logs"
    RESULTS = "results"
    EXPLAIN = "explain"
    PAUSE = "pause"
    RESUME = "resume"
    RESTART = "restart"
    STOP = "stop"
    KILL = "kill"
    START = "start"
    UPDATE = "update"
    SAVEPOINT = "stop --savepoint"
    LOG_LEVEL = "log-level"
    SAMPLE = "sample"


ONLY_LOOK = frozenset({Verb.STATUS, Verb.LOGS, Verb.RESULTS, Verb.EXPLAIN})
"""Commands that change nothing: they fit every topology that is there, whoever else changes it."""

ALIVE = frozenset({Condition.RUNNING, Condition.PAUSED, Condition.STOPPING})
"""Conditions of a topology that has processes."""

_FITS: dict[Verb, frozenset[Condition]] = {
    Verb.PAUSE: frozenset({Condition.RUNNING, Condition.PAUSED}),
    Verb.RESUME: frozenset({Condition.RUNNING, Condition.PAUSED}),
    Verb.RESTART: frozenset({Condition.RUNNING, Condition.PAUSED}),
    Verb.STOP: frozenset({Condition.RUNNING, Condition.PAUSED, Condition.STOPPING, Condition.INTERRUPTED}),
    Verb.KILL: frozenset(Condition),
    Verb.START: frozenset({Condition.INTERRUPTED, Condition.STOPPED, Condition.FAILED}),
    Verb.UPDATE: frozenset({Condition.RUNNING, Condition.INTERRUPTED, Condition.STOPPED, Condition.FAILED}),
    Verb.SAVEPOINT: frozenset({Condition.RUNNING, Condition.PAUSED, Condition.STOPPED}),
    Verb.LOG_LEVEL: ALIVE,
    Verb.SAMPLE: ALIVE,
}

_INSTEAD = {
    Condition.RUNNING: "stop it first with `ouzel stop {name}`",
    Condition.PAUSED: "have it go on with `ouzel resume {name}`",
    Condition.STOPPING: "wait for its end, or end it at once with `ouzel kill {name}`",
    Condition.INTERRUPTED: "bring it back with `ouzel start {name}`",
    Condition.STOPPED: "start it again with `ouzel start {name}`",
    Condition.FINISHED: "read its answer with `ouzel results {name}`, or remove it with `ouzel kill {name}` and submit it anew",
    Condition.FAILED: "see `ouzel status {name}`, then mend its query with `ouzel update {name} FILE.sql`, or start it again as it is "
    "with `ouzel start {name}`",
}


@dataclass(frozen=True)
class Do:
    """The command fits."""


@dataclass(frozen=True)
class RefuseCommand:
    """The command does not fit; `reason` is one sentence."""

    reason: str


def decide(command: Verb, name: str, condition: Condition | None, *, is_changing: bool = False) -> Do | RefuseCommand:
    """Whether a command fits a topology that stands like this: None if there is none of that name, `is_changing` if another command
    that changes it is at work."""
    if is_changing and command not in ONLY_LOOK:
        return RefuseCommand(
            f"topology '{name}' is being changed by another command; write this one again when that is done"
        )
    if command is Verb.SUBMIT:
        return Do() if condition is None else RefuseCommand(_describe_taken(name, condition))
    if condition is None:
        return RefuseCommand(f"there is no submitted topology '{name}'; `ouzel list` shows all that there are")
    if command in ONLY_LOOK or condition in _FITS[command]:
        return Do()
    return RefuseCommand(f"topology '{name}' {_words(condition)}: {_INSTEAD[condition].format(name=name)}")


def _describe_taken(name: str, condition: Condition) -> str:
    advice = f"choose another with --name, or remove that one with `ouzel kill {name}`"
    return f"there is a submitted topology '{name}' already, which {_words(condition)}; {advice}"


def _words(condition: Condition) -> str:
    match condition:
        case Condition.RUNNING:
            return "runs"
        case Condition.INTERRUPTED:
            return "was interrupted: its processes are gone"
        case Condition.FINISHED | Condition.FAILED:
            return f"has {condition.value}"
    return f"is {condition.value}"


def check_name(name: str) -> str:
    """The name, which is that of a folder and of a node of the state manager.

    Raises:
        SubmissionError: it cannot be one.
    """
    if len(name) <= NAME_CHARACTERS_MAX and _NAME.fullmatch(name):
        return name
    raise SubmissionError(
        f"'{name}' cannot name a submitted topology; write at most {NAME_CHARACTERS_MAX} letters of a to z, digits, '_', '.' and '-', "
        "the first a letter or a digit"
    )


@dataclass(frozen=True)
class Submitted:
    """The record of a submitted topology.

    Attributes:
        name: unique in a state manager.
        run: the folder of its present run, which is the run's id too.
        starts: how often it was started.
        condition: RUNNING while it is meant to run, else how it has ended.
        reason: why it failed; empty if it did not.
        since_us: when the condition came, in microseconds since 1970, UTC.
        goes_on: it keeps no state, so a start goes on where the run before was; if not, a start begins a new run.
        variables: environment variables that hold its secrets.
        is_updating: a command stops it in order to start it again; it is interrupted if that command is gone.
    """

    name: str
    run: str
    starts: int
    condition: Condition
    since_us: int
    goes_on: bool
    reason: str = ""
    variables: tuple[str, ...] = ()
    is_updating: bool = False

    def to_bytes(self) -> bytes:
        """As it stands in the state manager."""
        return json.dumps({**asdict(self), "condition": self.condition.value}).encode()

    @staticmethod
    def from_bytes(text: bytes) -> Submitted:
        """What `to_bytes` gave.

        Raises:
            SubmissionError: this is no record, or one of another version of Ouzel.
        """
        try:
            fields = json.loads(text)
            condition, variables = Condition(fields.pop("condition")), tuple(fields.pop("variables"))
            return Submitted(**fields, condition=condition, variables=variables)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise SubmissionError(f"this is no record: {type(error).__name__}: {error}") from error

    def find_condition(self, *, is_alive: bool, execution: bytes | None) -> Condition:
        """How it stands: whether its processes are there, and what its topology master has stored."""
        if not is_alive:
            is_to_run = self.condition is Condition.RUNNING or (
                self.is_updating and self.condition is Condition.STOPPED
            )
            return Condition.INTERRUPTED if is_to_run else self.condition
        state = (execution or b"").partition(b" ")[0]
        return {b"paused": Condition.PAUSED, b"draining": Condition.STOPPING}.get(state, Condition.RUNNING)

    def is_to_be_brought_back(self, condition: Condition) -> bool:
        """Whether `ouzel start --all` starts it: it was running when its processes went."""
        return condition is Condition.INTERRUPTED


def find_missing_secrets(record: Submitted, environment: Collection[str]) -> Do | RefuseCommand:
    """Whether all secrets are there that a start needs."""
    missing = [name for name in record.variables if name not in environment]
    if not missing:
        return Do()
    needed = ", ".join(missing)
    return RefuseCommand(
        f"topology '{record.name}' takes secrets from the environment, which lacks {needed}; set it, and start again"
    )
