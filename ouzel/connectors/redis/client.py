"""What source and sink share: how the server is reached, and what its errors mean."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ConnectionError,
    NoPermissionError,
    RedisError,
    TimeoutError,
)
from redis.retry import Retry

from ouzel.connectors.options import TableOptions, resolve_secrets
from ouzel.connectors.reading import Unreachable
from ouzel.errors import ConnectorError

AWAY = (ConnectionError, TimeoutError, BusyLoadingError)
"""Errors that pass when the server is back."""

FORBIDDEN = (AuthenticationError, NoPermissionError)
"""Errors that do not, although the first is one of those too."""

_PORT = 6379
_PAUSE_S = 0.1

_Answer = TypeVar("_Answer")


class Endpoint:
    """Where the server is, and how to greet it; messages name host and port, and no secret."""

    def __init__(self, options: TableOptions, directory: Path) -> None:
        url = urlsplit(options.text("url"))
        self.name = f"{url.hostname}:{url.port or _PORT}"
        timeout_s = options.integer("connect.timeout.ms") / 1000
        password = options.get("password")
        tls: dict[str, Any] = {
            name: str(directory / found)
            for name, option in (
                ("ssl_ca_certs", "tls.ca.path"),
                ("ssl_certfile", "tls.cert.path"),
                ("ssl_keyfile", "tls.key.path"),
            )
            if (found := options.get(option))
        }
        self.client: Any = Redis(
            host=url.hostname or "",
            port=url.port or _PORT,
            db=int(url.path.strip("/") or 0),
            username=url.username or options.get("username"),
            password=resolve_secrets("password", password) if password else None,
            ssl=url.scheme == "rediss",
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
            protocol=2,  # whatever the package's default: its answers have one shape
            **(tls if url.scheme == "rediss" else {}),
        )

    def greet(self) -> None:
        """See that it answers.

        Raises:
            ConnectorError: it does not, or does not let us in.
        """
        try:
            self.client.ping()
        except FORBIDDEN as error:
            raise self.error(error) from None
        except AWAY as error:
            raise ConnectorError(
                f"no Redis server answers at {self.name}: {error}; is it running, and is 'url' right?"
            ) from None

    def ask(self, question: Callable[[Any], _Answer]) -> _Answer | Unreachable:
        """What the server answers to a question, which is given the client.

        Raises:
            ConnectorError: it refuses.
        """
        try:
            return question(self.client)
        except FORBIDDEN as error:
            raise self.error(error) from None
        except AWAY as error:
            return Unreachable(f"Redis at {self.name}: {error}")
        except RedisError as error:
            raise self.error(error) from None

    def await_answer(self, question: Callable[[Any], _Answer]) -> _Answer:
        """The same for as long as it takes; the question may be asked twice."""
        while isinstance(answer := self.ask(question), Unreachable):
            time.sleep(_PAUSE_S)
        return answer

    def error(self, error: Exception) -> ConnectorError:
        """The error in words, with the server's address."""
        return ConnectorError(f"Redis at {self.name}: {str(error).rstrip('.')}")
