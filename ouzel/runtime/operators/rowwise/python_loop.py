"""Steps in Python as one loop over columns: written out as the loop that one would write by hand, and compiled once.

No record outlives its turn: columns come in as lists, and each column that is made is a list that grows. What fails loses the record that
the step was given, and nothing else: each loop tries each of its turns, which costs nothing while it goes well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ouzel.callers import FILE
from ouzel.compiler.plan import NoneGiven, PythonStep, StepKind, StepPart
from ouzel.compiler.records import Form, RecordType, taking
from ouzel.compiler.user_code import FAILURES

Lists = list[list[Any]]

OnFailure = Callable[[BaseException, dict[str, Any]], None]
"""Told of a record that a step cannot take, with the variables of the loop."""


class Called(NamedTuple):
    """What a line of a loop calls, and with which of its variables."""

    step: PythonStep
    given: tuple[str, ...]


@dataclass(frozen=True)
class Loop:
    """A compiled loop.

    Args:
        run: (columns read, what is told of failures) -> the columns made; of each row how many records there are up to it, None where
            each row gives one; and in that case the rows that gave none.
        reads: the places of those in the record that comes in.
        makes: the places of those that it makes in the record that goes out.
        lines: what its lines call, by number.
    """

    run: Callable[[Lists, OnFailure], tuple[Lists, list[int] | None, list[int]]]
    reads: tuple[int, ...]
    makes: tuple[int, ...]
    lines: dict[int, Called]


class _Text:
    """The lines of a loop, and the loops that are open."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def add(self, line: str, opens: bool = False) -> None:
        self.lines.append("    " * self.depth + line)
        self.depth += opens


def write_loop(
    steps: Sequence[PythonStep], takes: RecordType, gives: RecordType, makes: tuple[int, ...], counts: bool
) -> Loop:
    """The loop of these steps that makes the columns at the places `makes`; with `counts` it says how many records came of each row."""
    return _Writer(steps, takes, gives, makes, counts).loop()


class _Writer:
    """Writes one loop: inside it `key`, `value` and `record` are the variables that hold the record, as far as there are such."""

    def __init__(
        self, steps: Sequence[PythonStep], takes: RecordType, gives: RecordType, makes: tuple[int, ...], counts: bool
    ) -> None:
        self.steps, self.takes, self.gives, self.makes = steps, takes, gives, makes
        self.text, self.lines = _Text(), dict[int, Called]()
        self.branches = sum(step.kind is StepKind.FLAT_MAP for step in steps)
        self.ending = counts and any(step.kind is not StepKind.MAP for step in steps)
        parts = {step.part for step in steps}
        halves = {frozenset({StepPart.KEY}): (0,), frozenset({StepPart.VALUE}): (1,)}
        self.reads = halves.get(frozenset(parts), tuple(range(len(takes.columns))))
        self.key, self.value, self.record = "", "", ""
        self.tries: list[int] = []

    def loop(self) -> Loop:
        """Write it and compile it."""
        names: dict[str, Any] = {f"f{number}": step.function for number, step in enumerate(self.steps)}
        names |= {"make": self.takes.made, "take": taking(self.gives), "failures": FAILURES, "NoneGiven": NoneGiven}
        self._head()
        for number, step in enumerate(self.steps):
            self._step(number, step)
        self._give()
        while self.tries:
            self._close()
        self.text.depth = 1
        self.text.add(
            f"return [{', '.join(f'o{place}' for place in self.makes)}], {'ends' if self.ending else None}, lost"
        )
        exec(compile("\n".join(self.text.lines), FILE, "exec"), names)
        return Loop(names["run"], self.reads, self.makes, self.lines)

    def _head(self) -> None:
        add = self.text.add
        add("def run(columns, failed):", opens=True)
        add(f"{''.join(f'c{place}, ' for place in self.reads)} = columns")
        for place in self.makes:
            add(f"o{place} = []; a{place} = o{place}.append")
        add("ends = []; ended = ends.append; lost = []; n = 0")
        columns = [f"c{place}" for place in self.reads]
        source = f"zip({', '.join(columns)})" if len(columns) > 1 else columns[0]
        self._open(self._row(), source)
        if self.takes.form is Form.CLASS:
            add(f"x = make({', '.join(f'p{place}' for place in self.reads)})")
        elif self.record and len(self.reads) == 1 and self.takes.form is Form.TUPLE:
            add("x = (p0,)")

    def _row(self) -> str:
        """The variables of a row of the columns that are read."""
        if len(self.reads) < len(self.takes.columns):
            self.key, self.value = ("k", "") if self.reads == (0,) else ("", "v")
            return self.key or self.value
        if self.takes.is_pair:
            self.key, self.value = "k", "v"
            return "k, v"
        self.record = "x"
        parts = self.takes.form is Form.CLASS or (self.takes.form is Form.TUPLE and len(self.reads) == 1)
        return ", ".join(f"p{place}" for place in self.reads) if parts else "x"

    def _open(self, variables: str, source: str) -> None:
        """Begin a loop, each turn of which is tried; what has been made before a turn is remembered where its own loops may fail."""
        self.text.add(f"for {variables} in {source}:", opens=True)
        if self.branches > len(self.tries):
            self.text.add(f"mark{len(self.tries)} = {self._count()}")
        self.tries.append(self.text.depth)
        self.text.add("try:", opens=True)

    def _close(self) -> None:
        """End the turns of the innermost loop."""
        self.text.depth = self.tries.pop()
        level, add = len(self.tries), self.text.add
        add("except failures as error:", opens=True)
        add("failed(error, locals())")
        if self.branches > level:
            for place in self.makes:
                add(f"del o{place}[mark{level}:]")
            add(f"n = mark{level}")
        if level == 0 and not self.ending and self.makes and not self.branches:
            add(f"lost.append({self._count()} + len(lost))")
        self.text.depth -= 1
        if level == 0 and self.ending:
            add(f"ended({self._count()})")

    def _count(self) -> str:
        return f"len(o{self.makes[0]})" if self.makes else "n"

    def _step(self, number: int, step: PythonStep) -> None:
        made = f"y{number}"
        if step.part is StepPart.RECORD:
            given = (self.record,) if self.record else (self.key, self.value)
        else:
            self._split(number)
            given = (self.key,) if step.part is StepPart.KEY else (self.value,)
        self.lines[len(self.text.lines) + 1] = Called(step, given)
        call = f"f{number}({given[0] if len(given) == 1 else f'({given[0]}, {given[1]})'})"
        match step.kind:
            case StepKind.FILTER:
                self.text.add(f"if {call}:", opens=True)
                return
            case StepKind.FLAT_MAP:
                self._open(made, call)
            case StepKind.OPTION_MAP:
                self.text.add(f"{made} = {call}")
                self.text.add(f"if {made} is not None:", opens=True)
            case StepKind.MAP:
                self.text.add(f"{made} = {call}")
        if step.declared is not None:
            self.lines[len(self.text.lines) + 1] = Called(step, given)
            self.text.add(f"if {made} is None: raise NoneGiven")
        match step.part:
            case StepPart.RECORD:
                self.record, self.key, self.value = made, "", ""
            case StepPart.KEY:
                self.key = made
            case StepPart.VALUE:
                self.value = made

    def _split(self, number: int) -> None:
        """Have the pair in two variables."""
        if self.record:
            self._blame_last()
            self.key, self.value = f"k{number}", f"v{number}"
            self.text.add(f"{self.key}, {self.value} = {self.record}")
            self.record = ""

    def _blame_last(self) -> None:
        """The next line fails if what the last step gave is of another shape."""
        makers = [called for called in self.lines.values() if called.step.makes]
        if makers:
            self.lines[len(self.text.lines) + 1] = Called(makers[-1].step, (self.record,))

    def _give(self) -> None:
        """Append the record to the columns that are made."""
        add = self.text.add
        if not self.makes:
            add("n += 1")
            return
        if self.gives.is_pair:
            self._split(len(self.steps))
            for place in self.makes:
                add(f"a{place}({(self.key, self.value)[place]})")
            return
        self._blame_last()
        if self.gives.form is Form.VALUE:
            add(f"a0({self.record})")
            return
        parts = "".join(f"q{place}, " for place in range(len(self.gives.columns)))
        add(f"{parts}= take({self.record})" if self.gives.form is Form.CLASS else f"{parts}= {self.record}")
        for place in self.makes:
            add(f"a{place}(q{place})")
