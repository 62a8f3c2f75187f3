"""Who may ask: this machine alone, or who shows the token; and a server is only begun with what it needs."""

from __future__ import annotations

import base64
import os
import socket
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from starlette.routing import BaseRoute

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.app import ACTING, READING, create_app
from ouzel.tracker.serve import listen, read_token

TOKEN = "a-token-of-some-length"


def client(tmp_path: Path, token: str = "", host: str = "localhost", *, only_loopback: bool = True) -> TestClient:
    """A tracker without topologies, asked under this name."""
    return TestClient(
        create_app(Registry(tmp_path / "home"), token, only_loopback=only_loopback), base_url=f"http://{host}"
    )


@pytest.mark.parametrize("host", ["localhost", "localhost:8889", "127.0.0.1:1", "[::1]:8889"])
def test_this_machine_may_ask_by_its_own_names(tmp_path: Path, host: str) -> None:
    assert client(tmp_path, host=host).get("/topologies").json() == {}


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "10.0.0.7:8889"])
def test_a_page_that_leads_its_name_here_is_refused(tmp_path: Path, host: str) -> None:
    answer = client(tmp_path, host=host).get("/topologies")
    assert answer.status_code == 421
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (None, 401),
        ("Bearer wrong-token-of-some-length", 401),
        (f"Bearer {TOKEN}", 200),
        ("Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode(), 200),
        ("Basic " + base64.b64encode(b"me:no").decode(), 401),
        ("Basic \xe4", 401),
        (f"Digest {TOKEN}", 401),
    ],
)
def test_with_a_token_only_who_shows_it_may_ask(tmp_path: Path, shown: str | None, status: int) -> None:
    asked = client(tmp_path, TOKEN, "10.0.0.7", only_loopback=False)
    headers = {"authorization": shown.encode("latin-1")} if shown else {}
    for path in ("/", "/topologies", "/metrics", "/static/ouzel.css", "/openapi.json"):
        assert asked.get(path, headers=headers).status_code == status
    assert asked.get("/health").text == "ok"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_what_only_shows_takes_no_other_method(tmp_path: Path, method: str) -> None:
    own = create_app(Registry(tmp_path / "home"), owner_of=lambda client, server: os.getuid())
    for path in ("/", "/topologies", "/topologies/jstack", "/topology/one", "/metrics"):
        assert TestClient(own, base_url="http://localhost").request(method, path).status_code == 405
        assert client(tmp_path).request(method, path).status_code == 403


def test_routes_that_change_something_are_those_of_the_actions_alone() -> None:
    for router in READING:
        assert router.routes
        assert all(isinstance(route, APIRoute) and route.methods <= {"GET", "HEAD"} for route in router.routes)
    assert {"POST", "DELETE"} <= {method for router in ACTING for route in router.routes for method in _methods(route)}


def _methods(route: BaseRoute) -> set[str]:
    assert isinstance(route, APIRoute)
    return route.methods


def test_an_address_that_is_none_is_told_in_the_form_that_was_asked_for(tmp_path: Path) -> None:
    assert client(tmp_path).get("/none").json() == "Not Found"
    page = client(tmp_path).get("/none", headers={"accept": "text/html"})
    assert (page.status_code, "there is nothing at /none" in page.text) == (404, True)


def test_a_failure_is_told_with_status_500(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_self: Registry) -> list[str]:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Registry, "names", fail)
    asked = TestClient(
        create_app(Registry(tmp_path / "home")), base_url="http://localhost", raise_server_exceptions=False
    )
    answer = asked.get("/topologies")
    assert (answer.status_code, answer.json()) == (500, "ZeroDivisionError: by zero")


def test_others_are_served_only_with_a_token(tmp_path: Path) -> None:
    assert read_token(None, "127.0.0.1") == ""
    with pytest.raises(OuzelError, match="--token-file"):
        read_token(None, "0.0.0.0")
    file = tmp_path / "token"
    with pytest.raises(OuzelError, match="cannot be read"):
        read_token(file, "0.0.0.0")
    file.write_text("short\n")
    with pytest.raises(OuzelError, match="can be guessed"):
        read_token(file, "0.0.0.0")
    file.write_text(f"{TOKEN}\n")
    assert read_token(file, "0.0.0.0") == TOKEN


def test_a_port_that_is_taken_is_told() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(OuzelError, match="choose another with --port"):
        listen("127.0.0.1", taken.getsockname()[1])


def test_an_answer_in_two_parts_does_not_wait_for_an_acknowledgement() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
