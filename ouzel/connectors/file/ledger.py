"""The batches in the parts that one task of a run has written, so that its successor does not write them again.

A part holds many batches, and after a crash they come again in other company: its name cannot tell. A line is added before a part gets its
name; a part without its name does not count, whatever the line says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

REMEMBERED = 1 << 17
"""So many batches are remembered, the newest: more than can be on their way."""

_DIGITS = 16


def digits(batch_id: int) -> str:
    """A batch's id as parts and ledgers show it."""
    return f"{batch_id & (1 << 64) - 1:0{_DIGITS}x}"


class PartLedger:
    """The ids of batches written, in a file that outlives the task.

    Args:
        path: the file.
        is_whole: whether the part that begins with this batch has got its name.

    Raises:
        OSError: the file cannot be read or written.
    """

    def __init__(self, path: Path, is_whole: Callable[[str], bool]) -> None:
        self._path = path
        self._known: dict[str, None] = {}
        self._noted = 0
        *lines, _ = path.read_text().split("\n") if path.exists() else [""]  # what follows the last line end is torn
        for ids in map(str.split, lines):
            if ids and is_whole(ids[0]):
                self._known.update(dict.fromkeys(ids))
        self._rewrite()

    def __contains__(self, batch_id: int) -> bool:
        return digits(batch_id) in self._known

    def note(self, batch_ids: Sequence[int]) -> None:
        """The part that has these is whole, and gets its name next.

        Raises:
            OSError: the file cannot be written.
        """
        ids = [digits(batch_id) for batch_id in batch_ids]
        if self._noted + len(ids) > REMEMBERED:
            self._rewrite()
        self._append(self._path, ids)
        self._known.update(dict.fromkeys(ids))
        self._noted += len(ids)

    def _rewrite(self) -> None:
        """Forget the oldest, and in the file what does not count."""
        self._known = dict.fromkeys(list(self._known)[-REMEMBERED:])
        self._noted = 0
        new = self._path.with_suffix(".new")
        new.unlink(missing_ok=True)
        self._append(new, self._known)
        new.rename(self._path)

    def _append(self, path: Path, ids: Iterable[str]) -> None:
        with path.open("a") as file:
            file.write(" ".join(ids) + "\n")
