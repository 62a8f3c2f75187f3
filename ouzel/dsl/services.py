"""Services: what answers for keys, as stores do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

U_co = TypeVar("U_co", covariant=True)


class Service(Protocol[U_co]):
    """What is asked for keys: a store's version (see `ouzel.stores`), a client of a server, whatever has this one method.

    It is asked once for the keys of each batch, and goes to the processes by cloudpickle.
    """

    def get_many(self, keys: list[Any], /) -> Mapping[Any, U_co]:
        """What it has for those of the keys that it knows."""
