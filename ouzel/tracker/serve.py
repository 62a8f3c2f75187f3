"""Serves the application until it is interrupted."""

from __future__ import annotations

import socket
from pathlib import Path
from threading import Event
from types import FrameType

import uvicorn

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.app import create_app
from ouzel.tracker.guard import LOOPBACK_NAMES

TOKEN_CHARACTERS_MIN = 16


def read_token(path: Path | None, host: str) -> str:
    """The token that stands in a file; empty without one.

    Raises:
        OuzelError: the host needs one and there is none, or it can be guessed, or not be read.
    """
    if path is None:
        if host in LOOPBACK_NAMES:
            return ""
        raise OuzelError(
            f"--host {host} would let others read all topologies, and change them; write --token-file FILE, too, or leave out --host"
        )
    try:
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OuzelError(f"the token in {path} cannot be read: {error}") from error
    if len(token) < TOKEN_CHARACTERS_MIN:
        raise OuzelError(
            f"the token in {path} can be guessed; write at least {TOKEN_CHARACTERS_MIN} characters into it"
        )
    return token


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free.

    Raises:
        OuzelError: it cannot.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise OuzelError(
            f"{host}:{port} cannot be listened on: {error.strerror}; choose another with --port"
        ) from error


def serve(registry: Registry, listener: socket.socket, token: str, host: str, *, read_only: bool = False) -> None:
    """Serve until SIGINT or SIGTERM."""
    app = create_app(registry, token, only_loopback=host in LOOPBACK_NAMES, read_only=read_only)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    _Server(config, app.state.closing).run(sockets=[listener])


class _Server(uvicorn.Server):
    """One that tells streams without end to end when it is to end itself: it waits for all answers."""

    def __init__(self, config: uvicorn.Config, closing: Event) -> None:
        super().__init__(config)
        self._closing = closing

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._closing.set()
        super().handle_exit(sig, frame)
