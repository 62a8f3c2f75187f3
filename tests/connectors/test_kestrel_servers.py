"""The file that lists a queue's servers is looked at again; what cannot be used, or is just being written, changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.connectors.kestrel.servers import Servers, Share


def test_a_change_counts_when_it_has_been_seen_twice(tmp_path: Path) -> None:
    path = tmp_path / "kestrel.hosts"
    path.write_text("a:1, b:2  # two on a line\n\n# c:3\nb:2\n")
    servers = Servers("file:kestrel.hosts", tmp_path)
    servers.look()
    assert servers.hosts == ["a:1", "b:2"]
    path.write_text("a:1\nb:22")
    servers.look()
    path.write_text("a:1\nb:22133\n-c:3\n")
    for hosts in (["a:1", "b:2"], ["a:1", "b:22133"]):
        servers.look()
        assert servers.hosts == hosts
    assert servers.share(0, 1) == Share(["a:1", "b:22133"], frozenset({"a:1", "b:22133"}))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "the list of Kestrel's servers cannot be read: "),
        ("", "hosts names no server; write host:22133"),
        ("-a:1", "hosts names no server; write host:22133"),
        ("a:1\n-a:1", "hosts names a server both with and without a '-'; keep one of the two lines"),
        ("a:1\nb\n", "hosts cannot hold 'b'; write host:22133, each server on a line of its own"),
    ],
)
def test_what_cannot_be_used_is_told_and_changes_nothing(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "hosts"
    servers = Servers("file:hosts", tmp_path)
    for listed in ([], ["a:1"]):
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text)
        servers.look()
        servers.look()
        assert says in servers.problem
        assert servers.listed == listed
        path.write_text("a:1")
        servers.look()
        assert (servers.hosts, servers.problem) == (["a:1"], "")


def test_what_is_listed_in_with_stays(tmp_path: Path) -> None:
    servers = Servers("a:1, b:2,", tmp_path)
    servers.look()
    assert (servers.hosts, servers.may_change) == (["a:1", "b:2"], False)
