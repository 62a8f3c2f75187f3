"""JSON files that are one array: as if each element stood on a line of its own, byte for byte in the same place."""

from __future__ import annotations

import numpy as np

from ouzel.connectors.file.array_facts import COUNT, INSIDE, NOWHERE, PLACE
from ouzel.connectors.file.content import Content
from ouzel.errors import ConnectorError


class ArrayContent:
    """A file's content with line ends between the elements, and none in them."""

    def __init__(self, content: Content, path: str) -> None:
        self._content, self._path = content, path
        self._facts = np.zeros(5, np.int64)

    def read(self, at: int, size: int) -> bytes:
        """See Content.

        Raises:
            ConnectorError: the file is no array, or one without an end.
        """
        from ouzel.connectors.file import array_kernel

        data = np.frombuffer(self._content.read(at, size), np.uint8).copy()
        array_kernel.split_elements(data, self._facts)
        if self._facts[PLACE] == NOWHERE:
            raise ConnectorError(f"{self._path} is no JSON array; leave out 'json.array'")
        if len(data) < size and self._facts[PLACE] == INSIDE:
            raise ConnectorError(
                f"the array in {self._path} is not closed behind its element {self._facts[COUNT] + 1}: the file is not whole"
            )
        return data.tobytes()

    @property
    def grew(self) -> bool:
        """An array is whole, or an error."""
        return False

    def close(self) -> None:
        """Close the file."""
        self._content.close()


def begins_array(data: bytes) -> bool:
    """Whether the first sign of a file opens an array."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
