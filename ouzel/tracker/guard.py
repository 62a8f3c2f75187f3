"""Who may ask, who may change something, and what a browser may do with the answer."""

from __future__ import annotations

import base64
import hmac
import os
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ouzel.tracker.peers import Address, find_peer_user

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts by which a browser reaches this machine itself. Any other name that leads here is somebody's page that pretends to be ours."""

OPEN_TO_ALL = "/health"

LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

OWN_SITE = frozenset({"same-origin", "none"})
"""What a browser says of a request that a page of ours made, or that its user typed."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer a form of our own page would come from the origin "null"
    "Cross-Origin-Resource-Policy": "same-origin",
}

OwnerOf = Callable[[Address, Address], int | None]
"""The user at the client's end of a connection, by the addresses of both ends."""


class RequestGuard:
    """Middleware: refuses who may not ask, and puts HEADERS on every answer that does not say otherwise itself.

    It passes messages on as they are: Starlette's own frame for middleware starts a task and a stream for each request.

    Args:
        app: what answers who may ask.
        token: what a request must show, as a bearer or as the password of any user; empty if none is needed.
        only_loopback: whether the server listens on this machine alone.
        owner_of: says who asks; without a token only who runs the server, and root, may change something.
    """

    def __init__(self, app: ASGIApp, token: str, *, only_loopback: bool, owner_of: OwnerOf = find_peer_user) -> None:
        self._app, self._token = app, token
        self._only_loopback, self._owner_of = only_loopback, owner_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["x-process-time"] = str(time.perf_counter() - began)
            await send(message)

        answers: ASGIApp = self._refuse(Request(scope)) or self._app
        await answers(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        if self._only_loopback and _host_of(request) not in LOOPBACK_NAMES:
            return JSONResponse(
                "this server answers to localhost alone; start it with --host to have it answer others", 421
            )
        if self._token and request.url.path != OPEN_TO_ALL and not self._is_known(request):
            return JSONResponse(
                "show the token of this server, as a bearer or as a password",
                401,
                {"WWW-Authenticate": 'Basic realm="ouzel"'},
            )
        return None if request.method in LOOKING else self._refuse_change(request)

    def _refuse_change(self, request: Request) -> Response | None:
        """Refuse what a page of another site has its reader's browser send, and what another user of this machine asks for."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if (site is not None and site not in OWN_SITE) or (origin is not None and not _is_own(origin, request)):
            return JSONResponse("a page of another site asks for this; ask from a page of this server", 403)
        if not self._token and not self._is_own_user(request):
            return JSONResponse(
                "only the user who started this server may change something; start it with --token-file FILE, and show that token",
                403,
            )
        return None

    def _is_own_user(self, request: Request) -> bool:
        client, server = request.scope.get("client"), request.scope.get("server")
        if client is None or server is None or server[1] is None:
            return False
        return self._owner_of(tuple(client), tuple(server)) in (os.getuid(), 0)

    def _is_known(self, request: Request) -> bool:
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            shown = _password_of(shown)
        elif scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(shown.strip().encode(), self._token.encode())


def _host_of(request: Request) -> str:
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _is_own(origin: str, request: Request) -> bool:
    """Whether an origin is the host and port that the request was sent to."""
    return origin.partition("://")[2] == request.headers.get("host", "")


def _password_of(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except ValueError:  # it is no base64, or no text
        return ""
