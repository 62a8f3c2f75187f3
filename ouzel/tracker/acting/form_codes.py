"""What the form of an action carries, so that it counts: only a page of these servers could have put it there.

The key is kept in OUZEL_HOME: a form that is open in a browser is good after the server was killed, and at another server beside it.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
from pathlib import Path

_KEY, _BYTES = "ui.key", 32


class FormCodes:
    """Makes and checks codes. Where the key cannot be kept, they are good as long as this server runs."""

    def __init__(self, home: Path) -> None:
        try:
            self._key = _keep_key(home / _KEY)
        except OSError:
            self._key = secrets.token_bytes(_BYTES)

    def make(self, topology: str, action: str) -> str:
        """The code of a form."""
        return hmac.new(self._key, f"{topology} {action}".encode(), "sha256").hexdigest()

    def is_good(self, code: str, topology: str, action: str) -> bool:
        """Whether a form of that action carries it."""
        return hmac.compare_digest(code.encode(), self.make(topology, action).encode())


def _keep_key(path: Path) -> bytes:
    """The key that is kept there, or a new one, which is kept: one that is damaged is needed by no form that can be sent.

    Raises:
        OSError: none can be kept.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two servers may begin at once
        key = file.read(_BYTES + 1)
        if len(key) != _BYTES:
            key = secrets.token_bytes(_BYTES)
            file.seek(0)
            file.truncate()
            file.write(key)
        return key
