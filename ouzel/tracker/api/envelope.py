"""The old form of answers: Heron's first tracker wrapped each one; `?envelope=1` asks for that."""

from __future__ import annotations

import json
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ouzel.tracker.api.models import Envelope
from ouzel.tracker.api.plans import release
from ouzel.tracker.guard import CallNext

HEADER = "x-heron-envelope"


async def wrap_answer(request: Request, call_next: CallNext) -> Response:
    """Middleware: the answer as it is, or in an envelope if that is asked for. A failure is told in it with status 200, as it was."""
    began = time.perf_counter()
    response = await call_next(request)
    asked = request.query_params.get("envelope") or request.headers.get(HEADER)
    if asked not in ("1", "true") or response.headers.get("content-type") != "application/json":
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
