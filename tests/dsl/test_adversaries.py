"""Functions of the user's that do what no function should, in memory: each costs its record, and what is wrong is told with its line."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel import Source, monoid
from ouzel.compiler.user_code import LONGEST, describe_raised
from ouzel.dsl.functions import function_id
from ouzel.errors import TopologyError
from ouzel.testing import check_laws


class Untold(Exception):
    """Cannot be told of, nor be sent to another process."""

    def __init__(self, lock: object, *, needed: int) -> None:
        self.lock, self.needed = lock, needed

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Odd:
    """A record that cannot be shown."""

    def __repr__(self) -> str:
        raise SystemExit("no text either")


def leave() -> None:
    os._exit(3)


def exit_program() -> None:
    sys.exit("bye")


def interrupt() -> None:
    raise KeyboardInterrupt


def close_generator() -> None:
    raise GeneratorExit


def end() -> None:
    raise BaseException("the end")


def untold() -> None:
    raise Untold(sys, needed=1)


def long() -> None:
    raise ValueError("x" * 1_000_000)


def recurse() -> None:
    recurse()


def warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.warn("no", stacklevel=1)


DOING: dict[Callable[[], None], str] = {
    leave: "SystemExit: os._exit(3)",
    exit_program: "SystemExit: bye",
    interrupt: "KeyboardInterrupt (at",
    close_generator: "GeneratorExit (at",
    end: "BaseException: the end",
    untold: "Untold: (its text cannot be told: __str__ raised RuntimeError)",
    long: f"ValueError: {'x' * LONGEST}…",
    recurse: "RecursionError: maximum recursion depth exceeded",
    warn: "UserWarning: no",
}


def doing(do: Callable[[], None], n: int) -> int:
    if n == 2:
        do()
    return n


@pytest.mark.parametrize("do", DOING, ids=lambda do: do.__name__)
def test_whatever_a_function_raises_costs_its_record(do: Callable[[], None]) -> None:
    numbers = Source.of([1, 2, 3]).map(partial(doing, do), returns=int)
    line = do.__code__.co_firstlineno + 1
    with pytest.raises(TopologyError, match=rf"raised {re.escape(DOING[do])}") as told:
        numbers.table("memory")
    if do is not warn:
        assert re.search(rf"test_adversaries\.py:{line}\)", str(told.value))
    assert sorted(numbers.table("memory", error_policy="skip")["value"]) == [1, 3]


@pytest.mark.parametrize("do", [leave, exit_program, interrupt, untold], ids=lambda do: do.__name__)
def test_whatever_a_monoid_raises_names_it(do: Callable[[], None]) -> None:
    wrong = monoid.UserDefined("wrong", 0, lambda a, b: doing(do, b) + a, result=int, commutative=True)
    untried = Source.of([1, 2]).map(
        lambda n: ("a", n), returns=tuple[str, int]
    )  # an interrupt of a trial is that of the program
    with pytest.raises(TopologyError, match=rf"the monoid wrong\w* raised {re.escape(DOING[do])}.*test_adversaries"):
        untried.sum_by_key(wrong).table("memory")


class Leaves(ouzel.RowSpout):
    """Emits one row, and then does something."""

    fields = ("n",)

    def __init__(self, do: Callable[[], None]) -> None:
        self.do, self.n = do, 0

    def next_row(self) -> Any:
        self.n += 1
        return (1,) if self.n == 1 else self.do()


class Same(ouzel.RowBolt):
    fields = ("n",)

    def __init__(self, do: Callable[[], None]) -> None:
        self.do = do

    def handle(self, *row: Any) -> Any:
        self.do()
        return [row]


@pytest.mark.parametrize("do", [leave, interrupt, untold], ids=lambda do: do.__name__)
@pytest.mark.parametrize("who", ["spout", "bolt"])
def test_a_spout_or_bolt_that_ends_its_process_is_named(do: Callable[[], None], who: str) -> None:
    builder = ouzel.TopologyBuilder("leaving")
    builder.set_spout("spout", Leaves(do if who == "spout" else lambda: None), ouzel.schema(n=int))
    builder.set_bolt("bolt", Same(do if who == "bolt" else lambda: None), ouzel.schema(n=int)).shuffle_grouping("spout")
    with pytest.raises(
        TopologyError, match=rf"'{who}' \(task \d\) failed: {re.escape(DOING[do].removesuffix(' (at'))}"
    ):
        ouzel.table(builder.build(), "memory", of="bolt")


def test_a_function_of_sql_that_exits_refuses_its_row() -> None:
    @ouzel.function(["BIGINT"], "BIGINT", by_row=True)
    def checked(n: int) -> int:
        return doing(leave, n)

    text = (
        "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '4', 'fields.n.kind' = 'sequence');"
        "SET 'error.policy' = 'skip'; SELECT checked(n) AS n FROM t"
    )
    assert sorted(ouzel.table(ouzel.query(text, functions=[checked]), "memory")["n"]) == [0, 1, 3]


@pytest.mark.parametrize(
    "given", [partial(lambda a, n: a + n, 1), type("Plus", (), {"__call__": lambda self, n: n + 1})()]
)
def test_a_function_of_sql_may_have_no_name_of_its_own(given: Any) -> None:
    made = ouzel.function(["BIGINT"], "BIGINT", by_row=True, name="more")(given)
    text = (
        "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '2', 'fields.n.kind' = 'sequence');"
        "SELECT more(n) AS n FROM t"
    )
    assert sorted(ouzel.table(ouzel.query(text, functions=[made]), "memory")["n"]) == [1, 2]


def endless(n: int) -> Iterator[int]:
    return count(n)


def test_a_generator_without_end_is_tried_on_the_first_of_what_it_gives() -> None:
    """To plan a query is to try its functions: it never came to an end."""
    stream = Source.of([1, 2]).flat_map(endless, returns=int).map(lambda n: n % 2)
    assert "map" in stream.explain()


@pytest.mark.parametrize("do", [leave, exit_program, end], ids=lambda do: do.__name__)
def test_a_function_that_exits_while_it_is_tried_does_not_end_the_program(do: Callable[[], None]) -> None:
    numbers = Source.of([1, 2, 3]).map(lambda n: doing(do, n))
    assert sorted(numbers.table("memory", error_policy="skip")["value"]) == [1, 3]


@pytest.mark.parametrize("record", [{("a", 1): 2}, Odd(), {"x": Odd()}])
def test_a_record_that_has_no_json_is_refused_all_the_same(record: Any) -> None:
    def fail(n: int) -> Any:
        return record

    def refuse(one: Any) -> int:
        raise ValueError("no")

    stream = Source.of([1]).map(fail, returns=dict[str, int]).map(refuse)
    assert stream.table("memory", error_policy="skip").height == 0


def test_an_error_is_told_whatever_its_text_does() -> None:
    assert describe_raised(KeyError("k")) == "KeyError: 'k'"
    assert describe_raised(ValueError()) == "ValueError"
    assert "cannot be told" in describe_raised(Untold(None, needed=1))
    assert describe_raised(ValueError("half of \ud83e")) == r"ValueError: half of \ud83e"


def test_half_of_a_character_refuses_its_record_and_can_be_told() -> None:
    """No message takes such a text: the task died 13 times of what it had to say."""

    def cut(n: int) -> str:
        return "\ud83e"

    def refuse(word: str) -> str:
        raise ValueError("no")

    for stream in (Source.of([1]).map(cut), Source.of([1]).map(cut).map(refuse)):
        with pytest.raises(TopologyError) as caught:
            stream.table("memory")
        assert r'"\ud83e"' in str(caught.value)
        str(caught.value).encode()


def test_a_function_that_calls_itself_and_one_that_holds_itself_are_known_again() -> None:
    """The first is any recursive function inside another; both ended with a RecursionError of ours."""

    def make(last: int) -> tuple[Any, Any]:
        kept: dict[str, Any] = {"last": last}
        kept["itself"] = kept

        def even(n: int) -> bool:
            return n == last or odd(n - 1)

        def odd(n: int) -> bool:
            return n != last and even(n - 1)

        return even, lambda n: n + kept["last"]

    ids = [[function_id(one) for one in make(last)] for last in (0, 0, 2)]
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])
    even, later = make(0)
    assert Source.of([1, 2]).map(even, returns=bool).table("memory")["value"].to_list() == [False, True]
    assert Source.of([1, 2]).map(later, returns=int).table("memory")["value"].to_list() == [1, 2]


def test_a_monoid_of_lambdas_keeps_its_laws() -> None:
    """The docs define one so."""
    check_laws(monoid.UserDefined("plus", 0, lambda a, b: a + b, result=int, commutative=True), [1, 2, None, -7])
    longest = monoid.UserDefined("longest", "", lambda a, b: max(a, b, key=len), result=str, commutative=False)
    check_laws(monoid.TupleOf((longest, monoid.Count())), [("a", 1), ("bb", None), None])
    check_laws(monoid.MapOf(longest), [{"a": "b"}, {}, None])
    with pytest.raises(AssertionError, match="does not keep"):
        check_laws(monoid.UserDefined("minus", 0, lambda a, b: a - b, result=int, commutative=True), [1, 2])


def test_what_a_function_forks_does_not_come_back(tmp_path: Any) -> None:
    """It would go on as the engine, and fork again at the next row."""

    def fork(n: int) -> int:
        child = os.fork()
        if child:
            assert os.waitpid(child, 0) == (child, 0)
        with (tmp_path / "returned").open("a") as file:
            file.write(json.dumps([n, child == 0]) + "\n")
        return n

    assert sorted(Source.of([1, 2, 3]).map(fork, returns=int).table("memory")["value"]) == [1, 2, 3]
    lines = [json.loads(line) for line in (tmp_path / "returned").read_text().splitlines()]
    assert sorted(lines) == [[n, child] for n in (1, 2, 3) for child in (False, True)]


@pytest.mark.parametrize("engine", ["memory", pytest.param("heron", marks=pytest.mark.server)])
@pytest.mark.parametrize("first", ["nothing", "results"])
def test_a_run_is_waited_for_to_its_end_though_results_wait(engine: str, first: str) -> None:
    """It said after 1.5 s that the run had not ended, for something had come. They are more than a handle keeps of itself."""
    big = Source.of(range(20)).map(lambda n: "x" * 1_000_000).start(engine)
    if first == "results":
        big.wait_for_results(60)
    assert big.wait(60)
    frames = big.results()
    assert isinstance(frames[0], pl.DataFrame)
    assert sum(frame.height for frame in frames) == 20
    assert big.wait_for_results(0)


def test_exit_in_a_notebook_costs_its_record_and_not_the_kernel() -> None:
    """There it is no exception: it asks the kernel to end."""
    autocall = pytest.importorskip("IPython.core.autocall")
    asked = list[bool]()
    kernel = type("Kernel", (), {"ask_exit": lambda self: asked.append(self.keepkernel_on_exit)})()
    leave_notebook = autocall.ZMQExitAutocall(kernel)
    numbers = Source.of([1, 2, 3]).map(lambda n: leave_notebook() if n == 2 else n, returns=int)
    assert sorted(numbers.table("memory", error_policy="skip")["value"]) == [1, 3]
    assert not asked
    with pytest.raises(TopologyError, match=r"raised SystemExit: exit\(\)"):
        numbers.table("memory")
    leave_notebook(keep_kernel=True)
    assert asked == [True], "outside of a function it does what it did"
