"""The old form of answers: Heron's first tracker wrapped each one; `?envelope=1` asks for that."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable

from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ouzel.tracker.api.models import Envelope
from ouzel.tracker.api.plans import release

HEADER = "x-heron-envelope"

CallNext = Callable[[Request], Awaitable[Response]]


class EnvelopeMiddleware:
    """The answer as it is, or in an envelope if that is asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._wrapping = app, BaseHTTPMiddleware(app, dispatch=_wrap_answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and _asks_for_envelope(Request(scope))
        await (self._wrapping if is_asked else self._app)(scope, receive, send)


def _asks_for_envelope(request: Request) -> bool:
    return (request.query_params.get("envelope") or request.headers.get(HEADER)) in ("1", "true")


async def _wrap_answer(request: Request, call_next: CallNext) -> Response:
    """A failure is told with status 200, as it was."""
    began = time.perf_counter()
    response = await call_next(request)
    if response.headers.get("content-type") != "application/json":
        return response
    body = b"".join([chunk async for chunk in response.body_iterator])  # type: ignore[attr-defined]  # as middleware gets it
    result, failed = json.loads(body), response.status_code >= 400
    wrapped = Envelope(
        status="failure" if failed else "success",
        message=str(result) if failed else "",
        executiontime=time.perf_counter() - began,
        tracker_version=release(),
        result={} if failed else result,
    )
    return JSONResponse(wrapped.model_dump(), response.status_code if response.status_code in (401, 421) else 200)
