"""The topology master's view of who is there."""

from __future__ import annotations

from ouzel.runtime.protocol.cluster.membership import Member, Membership


def member(container: int, incarnation: int = 1) -> Member:
    return Member(container, incarnation, "host", 0, f"/{container}/{incarnation}")


def test_complete_when_every_container_has_registered() -> None:
    membership = Membership(frozenset({1, 2}))
    assert membership.register(member(2))
    assert membership.register(member(1))
    assert len(membership.members) == 2
    assert membership.members == (member(1), member(2))


def test_the_version_grows_only_when_something_changes() -> None:
    membership = Membership(frozenset({1, 2}), version=10)
    membership.register(member(1))
    membership.register(member(1))
    assert membership.version == 11


def test_a_later_process_takes_the_place_of_an_earlier_whose_end_is_noticed_afterwards() -> None:
    membership = Membership(frozenset({1}))
    membership.register(member(1, 1))
    membership.register(member(1, 2))
    membership.remove(member(1, 1))
    assert membership.members == (member(1, 2),)
    membership.remove(member(1, 2))
    assert membership.members == ()


def test_a_stranger_is_refused() -> None:
    membership = Membership(frozenset({1}))
    assert not membership.register(member(3))
    assert membership.version == 0
