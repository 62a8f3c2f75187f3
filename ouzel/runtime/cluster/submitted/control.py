"""The socket by which commands reach the server of a submitted topology: one line each way, and who does not know the token is not heard.

The server forks, so it has no thread for this: it looks at the socket now and then, and gives a client a second to say what it wants.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ouzel.errors import SubmissionError

SOCKET = "control.sock"
_LINE_BYTES = 4_096
_PATIENCE_S, _ANSWER_S = 1.0, 20.0

Carry = Callable[[dict[str, Any]], str]
"""Carries out a command; why it cannot, or an empty text."""


class ControlSocket:
    """The server's end."""

    def __init__(self, home: Path, token: bytes) -> None:
        self._token = token.hex()
        path = home / SOCKET
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self._listener.bind(str(path))
        finally:
            os.umask(before)
        self._listener.listen(16)
        self._listener.setblocking(False)

    def serve(self, carry: Carry) -> None:
        """Carry out what is waiting now."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            with connection, contextlib.suppress(OSError, ValueError, KeyError):
                connection.settimeout(_PATIENCE_S)
                asked = json.loads(_read_line(connection))
                is_known = hmac.compare_digest(str(asked.pop("token")).encode(), self._token.encode())
                reason = carry(asked) if is_known else "the command does not carry the token of this topology"
                connection.sendall(json.dumps({"reason": reason}).encode() + b"\n")


def tell_server(home: Path, token: bytes, **asked: Any) -> None:
    """Have the server of a submitted topology carry out a command.

    Raises:
        SubmissionError: it does not answer, or cannot.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_ANSWER_S)
            connection.connect(str(home / SOCKET))
            connection.sendall(json.dumps({"token": token.hex(), **asked}).encode() + b"\n")
            reason = json.loads(_read_line(connection))["reason"]
    except (OSError, ValueError, KeyError) as error:
        raise SubmissionError(
            f"the server of the topology does not answer: {error}; look again, it may be ending"
        ) from error
    if reason:
        raise SubmissionError(reason)


def _read_line(connection: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        text = connection.recv(_LINE_BYTES)
        if not text or len(line) > _LINE_BYTES:
            raise ConnectionError("it hung up")
        line += text
    return line
