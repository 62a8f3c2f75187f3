"""The application: tracker and pages."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.acting import routes as acting
from ouzel.tracker.acting.carrying import ActionRunner
from ouzel.tracker.acting.form_codes import FormCodes
from ouzel.tracker.api import routes as api
from ouzel.tracker.api.envelope import EnvelopeMiddleware
from ouzel.tracker.api.plans import release
from ouzel.tracker.guard import OwnerOf, RequestGuard
from ouzel.tracker.logs import log_pages
from ouzel.tracker.metrics.prometheus import exposition
from ouzel.tracker.pages import figure_pages, reconciliation_pages, viz_pages
from ouzel.tracker.pages import topology_pages as pages
from ouzel.tracker.peers import find_peer_user
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher

READING = (
    api.router,
    pages.page_router,
    log_pages.log_router,
    figure_pages.figure_router,
    viz_pages.viz_router,
    reconciliation_pages.reconciliation_router,
)
ACTING = (acting.acting_router, acting.api_router)
"""Routers that only show something, and those that change something."""


def create_app(
    registry: Registry,
    token: str = "",
    *,
    only_loopback: bool = True,
    read_only: bool = False,
    owner_of: OwnerOf = find_peer_user,
) -> FastAPI:
    """The application over the topologies of a registry.

    Args:
        registry: whose topologies these are.
        token: what requests must show; empty if none is needed.
        only_loopback: whether it is served to this machine alone.
        read_only: whether it has no routes that change something.
        owner_of: says who asks: see RequestGuard.
    """
    watcher = TopologyWatcher(registry)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        watcher.close()

    app = FastAPI(title="Ouzel", version=release(), docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.watcher = watcher
    app.state.closing = Event()
    app.state.runner = None if read_only else ActionRunner(registry.home)
    app.state.form_codes = None if read_only else FormCodes(registry.home)
    for router in READING if read_only else (*READING, *ACTING):
        app.include_router(router)
    app.get("/metrics", include_in_schema=False)(scrape)
    app.mount("/static", StaticFiles(directory=pages.HERE / "static"))
    app.add_exception_handler(OuzelError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failed)
    app.add_middleware(EnvelopeMiddleware)
    app.add_middleware(RequestGuard, token=token, only_loopback=only_loopback, owner_of=owner_of)
    return app


def scrape(watcher: api.AppWatcher) -> Response:
    """What Prometheus reads."""
    found = [
        (one, watcher.history(one))
        for one in watcher.snapshots(with_processes=False)
        if isinstance(one, TopologySnapshot)
    ]
    return Response(exposition(found, int(time.time())), media_type=CONTENT_TYPE_LATEST)


async def _refused(_request: Request, error: Exception) -> Response:
    return JSONResponse(str(error), 400)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    told = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors())
    return JSONResponse(told, 400)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and "text/html" in request.headers.get("accept", ""):
        return await pages.not_found(request, error)
    return JSONResponse(str(error.detail), error.status_code)


async def _failed(_request: Request, error: Exception) -> Response:
    return JSONResponse(f"{type(error).__name__}: {error}", 500)
