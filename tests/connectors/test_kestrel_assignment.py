"""The papers' rule for hosts and spouts, for any number of both."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.connectors.kestrel.assignment import (
    Readers,
    assign_hosts,
    assign_in_order,
    follows_rule,
    hosts_of,
    is_possible,
)
from tests.effort import examples


def names(count: int) -> list[str]:
    return [f"kestrel{number}:22133" for number in range(count)]


def rule_in_words(readers: Readers, tasks: int) -> bool:
    """The rule as the paper states it, host by host."""
    read = [set(hosts_of(readers, task)) for task in range(tasks)]
    apart = all(
        any(a in those and b not in those for those in read) and any(b in those and a not in those for those in read)
        for of_task in read
        for a, b in combinations(of_task, 2)
    )
    return apart and all(len(those) > 1 for those in read) and all(len(tasks) > 1 for tasks in readers.values())


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(3, 40), st.integers(3, 40))
def test_the_rule_holds_wherever_it_can(hosts: int, tasks: int) -> None:
    readers = assign_hosts(names(hosts), tasks)
    assert list(readers) == names(hosts)
    assert rule_in_words(readers, tasks) == follows_rule(readers, tasks) == is_possible(hosts, tasks)
    if is_possible(hosts, tasks):
        loads = [len(hosts_of(readers, task)) for task in range(tasks)]
        assert max(loads) - min(loads) <= max(2, hosts // 4), "nobody reads much more than others"


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 14), st.integers(1, 8), st.data())
def test_by_its_order_alone_a_list_gives_what_moves_the_fewest(hosts: int, tasks: int, data: st.DataObject) -> None:
    listed = names(hosts)
    readers = assign_in_order(listed, tasks)
    assert list(readers) == listed
    assert follows_rule(readers, tasks) or not is_possible(hosts, tasks)
    assert assign_in_order([*listed, "new:1"], tasks) == assign_hosts([*listed, "new:1"], tasks, readers)
    if listed:
        place = data.draw(st.integers(0, hosts - 1))
        others = listed[:place] + listed[place + 1 :]
        replaced = assign_in_order([*listed[:place], "new:1", *listed[place + 1 :]], tasks)
        assert [replaced[host] for host in others] == [readers[host] for host in others]
        marked = [*listed[:place], f"-{listed[place]}", *listed[place + 1 :]]
        assert assign_in_order(marked, tasks) == assign_hosts(others, tasks, readers)


def test_where_it_is_said_to_be_impossible_it_is() -> None:
    for hosts, tasks in product(range(1, 4), range(1, 4)):
        choice = [set(those) for size in range(2, tasks + 1) for those in combinations(range(tasks), size)]
        ways = product([frozenset(those) for those in choice], repeat=hosts)
        any_way = any(rule_in_words(dict(zip(names(hosts), way, strict=True)), tasks) for way in ways)
        assert any_way == is_possible(hosts, tasks), (hosts, tasks)


@pytest.mark.parametrize(("hosts", "tasks"), [(1, 1), (1, 5), (2, 2), (2, 6), (6, 1), (6, 2), (comb(4, 2) + 1, 4)])
def test_else_all_hosts_are_read_and_nobody_idles(hosts: int, tasks: int) -> None:
    readers = assign_hosts(names(hosts), tasks)
    assert all(readers.values())
    assert all(hosts_of(readers, task) for task in range(tasks))


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(4, 30), st.integers(3, 30), st.lists(st.tuples(st.booleans(), st.integers(0, 999)), max_size=12))
def test_hosts_come_and_go_with_few_moves(hosts: int, tasks: int, changes: list[tuple[bool, int]]) -> None:
    there, fresh = names(hosts), 1_000
    readers = assign_hosts(there, tasks)
    for comes, pick in changes:
        before, possible = readers, is_possible(len(there), tasks)
        there = [*there, f"new{fresh + pick}"] if comes else [h for n, h in enumerate(there) if n != pick % len(there)]
        there, fresh = list(dict.fromkeys(there)), fresh + 1_000
        if len(there) < 3:
            return
        readers = assign_hosts(there, tasks, before)
        assert follows_rule(readers, tasks) == is_possible(len(there), tasks)
        if not (possible and is_possible(len(there), tasks)):
            continue
        moved = [host for host in there if host in before and readers[host] != before[host]]
        orphans = [task for task in range(tasks) if sum(task in before.get(host, ()) for host in there) < 2]
        assert len(moved) <= 2 * len(orphans) + 2 or len(there) > comb(tasks, 2), (moved, orphans)
