"""Serves the application until it is interrupted."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
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


@dataclass(frozen=True)
class TlsFiles:
    """The files of a certificate, with those above it, and of its key, as PEM."""

    certificate: Path
    key: Path


def choose_tls(host: str, certificate: Path | None, key: Path | None, *, plain: bool = False) -> TlsFiles | None:
    """The files by which connections are encrypted; None if they are not to be.

    Raises:
        OuzelError: one is missing or cannot be used, or others could read the token, and nobody has said that they cannot.
    """
    if certificate is None and key is None:
        if host in LOOPBACK_NAMES or plain:
            return None
        raise OuzelError(
            f"--host {host} would send the token and all pages unencrypted; "
            "write --tls-cert FILE --tls-key FILE, or --plain-http where a proxy encrypts"
        )
    if certificate is None or key is None:
        raise OuzelError("--tls-cert and --tls-key belong together; write both")
    if plain:
        raise OuzelError("--plain-http and --tls-cert exclude each other; leave one out")
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key, password=lambda: "")  # else OpenSSL would ask the terminal
    except (OSError, ssl.SSLError) as error:
        told = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise OuzelError(
            f"the certificate in {certificate} cannot be used with the key in {key}: {told}; "
            "both must be PEM, and the key without a password"
        ) from error
    return TlsFiles(certificate, key)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free.

    Raises:
        OuzelError: it cannot.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise OuzelError(
            f"{host}:{port} cannot be listened on: {error.strerror}; choose another with --port"
        ) from error
    # Connections inherit it. Without it the body of an answer waits until its head is acknowledged, 40 ms later where a connection is kept.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def serve(
    registry: Registry,
    listener: socket.socket,
    token: str,
    host: str,
    *,
    read_only: bool = False,
    tls: TlsFiles | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM."""
    app = create_app(registry, token, only_loopback=host in LOOPBACK_NAMES, read_only=read_only)
    files = {"ssl_certfile": tls.certificate, "ssl_keyfile": tls.key} if tls else {}
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, **files)  # type: ignore[arg-type]  # by name
    _Server(config, app.state.closing).run(sockets=[listener])


class _Server(uvicorn.Server):
    """One that tells streams without end to end when it is to end itself: it waits for all answers."""

    def __init__(self, config: uvicorn.Config, closing: Event) -> None:
        super().__init__(config)
        self._closing = closing

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._closing.set()
        super().handle_exit(sig, frame)
