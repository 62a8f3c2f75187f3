"""Which hosts each spout task reads, by the rule of Twitter's Kestrel spout (Fu et al., Streaming@Twitter, 2015).

Each task reads several hosts, each host is read by several tasks, and of any two hosts that one task reads there is a task that reads only
the first and one that reads only the second: so a slow host, or a slow task, does not slow another one's items down.

In other words: the sets of tasks of two hosts that share a task do not contain each other. By Sperner's theorem that is possible for n
tasks and at most C(n, n // 2) hosts, and for three of each at least. With fewer the parts of the rule that can be kept are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice
from math import comb

Readers = Mapping[str, frozenset[int]]
"""Host -> the tasks that read it, numbered from 0."""

LEAST = 3
"""With fewer hosts or tasks the rule cannot hold."""

GONE = "-"
"""Before a host in a list: it is read no more, and keeps its place, so that others keep theirs."""

ATTEMPTS = 100
"""So many choices of the hosts that may move are tried, before all do."""


def is_possible(hosts: int, tasks: int) -> bool:
    """Whether the rule can hold for so many."""
    return hosts >= LEAST and tasks >= LEAST and hosts <= comb(tasks, tasks // 2)


def follows_rule(readers: Readers, tasks: int) -> bool:
    """Whether the whole rule holds."""
    read = Counter(task for those in readers.values() for task in those)
    several = all(read[task] > 1 for task in range(tasks)) and all(len(those) > 1 for those in readers.values())
    pairs = combinations(readers.values(), 2)
    return several and all(not one & other or not (one <= other or other <= one) for one, other in pairs)


def assign_hosts(hosts: Sequence[str], tasks: int, before: Readers | None = None) -> Readers:
    """The tasks of each host. What was so `before`, with other hosts, stays so as far as the rule allows it.

    When a host goes, tasks that are left with one host are given another. While pairs of tasks suffice, for C(n, 2) hosts, no more than two
    hosts move besides; beyond that all may.
    """
    if not is_possible(len(hosts), tasks):
        return _as_far_as_possible(hosts, tasks)
    kept = {host: those for host in hosts if (those := (before or {}).get(host))}
    for attempt in _attempts(kept):
        found = _complete(attempt, hosts, tasks)
        if found is not None:
            return {host: found[host] for host in hosts}
    raise AssertionError(f"no assignment of {len(hosts)} hosts to {tasks} tasks")


def assign_in_order(listed: Sequence[str], tasks: int) -> Readers:
    """The tasks of each host, by the order of the list alone: all tasks find the same, whatever each of them has seen before.

    It is what comes of adding the hosts one by one. So one at the end of the list, or in another's place, moves the fewest; and so does one
    that is marked as GONE. (One that is taken out moves those behind it.)
    """
    names = [name.removeprefix(GONE) for name in listed]
    readers: Readers = {}
    for count in range(1, len(names) + 1):
        readers = assign_hosts(names[:count], tasks, readers)
    return assign_hosts([name for name in listed if not name.startswith(GONE)], tasks, readers)


def _attempts(kept: Readers) -> Iterator[dict[str, frozenset[int]]]:
    """What may stay as it is: all, or all but one or two hosts, those of many tasks first, or nothing."""
    wide = sorted(kept, key=lambda host: -len(kept[host]))
    for number in range(3):
        for some in islice(combinations(wide, number), ATTEMPTS):
            yield {host: those for host, those in kept.items() if host not in some}
    yield {}


def hosts_of(readers: Readers, task: int) -> list[str]:
    """The hosts that a task reads."""
    return [host for host, those in readers.items() if task in those]


def _as_far_as_possible(hosts: Sequence[str], tasks: int) -> Readers:
    """With few of one kind each reads all; with too many hosts some have the same tasks as others."""
    if min(len(hosts), tasks) < LEAST:
        return dict.fromkeys(hosts, frozenset(range(tasks)))
    several = list(combinations(range(tasks), _half(tasks)))
    sets = [frozenset(several[number % len(several)]) for number in range(len(hosts))]
    return dict(zip(hosts, sets, strict=True))


def _complete(found: dict[str, frozenset[int]], hosts: Sequence[str], tasks: int) -> Readers | None:
    """Assign tasks to hosts that have too few, then hosts to tasks that have none; None if that is impossible."""
    for host in hosts:
        if host not in found:
            fresh = next(_free_sets(found.values(), tasks, len(hosts)), None)
            if fresh is None:
                return None
            found[host] = fresh
    for task in range(tasks):
        while len(read := hosts_of(found, task)) < 2:
            another = _host_for(task, [host for host in hosts if host not in read], found)
            if another is None:
                return None
            found[another] |= {task}
    return found if follows_rule(found, tasks) else None


def _free_sets(taken: Collection[frozenset[int]], tasks: int, hosts: int) -> Iterator[frozenset[int]]:
    """Sets of tasks for one more host, of the smallest size that suffices for all, those with the least to do first."""
    load = Counter(task for those in taken for task in those)
    order = sorted(range(tasks), key=lambda task: (load[task], task))
    least = next(size for size in range(2, tasks) if comb(tasks, size) >= hosts)
    for size in range(least, max(least, _half(tasks)) + 1):
        chosen = sorted(combinations(order, size), key=lambda those: sum(load[task] for task in those))
        yield from (set_ for those in chosen if _is_free(set_ := frozenset(those), taken))


def _half(tasks: int) -> int:
    """The larger half: of this size there are the most sets that do not contain each other, and several tasks in each."""
    return (tasks + 1) // 2


def _is_free(those: frozenset[int], taken: Collection[frozenset[int]]) -> bool:
    return all(not (those <= other or other <= those) for other in taken)


def _host_for(task: int, choice: Sequence[str], found: Mapping[str, frozenset[int]]) -> str | None:
    """The host with the fewest tasks that may be read by this one too."""
    for host in sorted(choice, key=lambda host: len(found[host])):
        if _is_free(found[host] | {task}, [those for other, those in found.items() if other != host]):
            return host
    return None
