"""The newest reconciliations of an OUZEL_HOME, each with its report: two files, `ID.json` and `ID.html`, in its folder `reconciliations`.

Each reconciliation has one writer, the process that makes it, whose id no other process uses. Everybody removes what is older than the
newest KEPT: two that do so at once remove the same. What is damaged, or left over of a writer that died, counts and ages as the others do.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from ouzel.files import put_bytes

T = TypeVar("T")

FOLDER = "reconciliations"

KEPT = 100
"""So many reconciliations are kept, of all queries together."""

REPORT_BYTES_MAX = 4 << 20
"""A larger report is not kept: with KEPT of them the folder would be no small one."""

PRIVATE = 0o600
"""Reports hold rows of users: only their owner may read them."""

_ID = re.compile(r"[0-9]{16}-[0-9]+-[0-9a-f]{8}")


@dataclass(frozen=True)
class ReconciliationSummary:
    """What is kept of a reconciliation beside its report.

    Attributes:
        id: in the names of its files; see `new_id`.
        query: the name of the topology.
        table: which of its tables was compared.
        at_us: when it ended, or its last round, in microseconds since 1970.
        verdict: the outcome in a sentence.
        is_explained: whether the record of the run explains every difference, and nobody has changed the answer.
        is_live: whether the run went on.
        matched: rows that stream and batch both have.
        explained: rows that differ for a reason.
        unexplained: rows that differ without one.
        changed: things that were changed since the run wrote them, in words.
        rounds: of a watch, how many there were; 0 of one that compares once.
    """

    id: str
    query: str
    table: str
    at_us: int
    verdict: str
    is_explained: bool
    is_live: bool
    matched: int
    explained: int
    unexplained: int
    changed: tuple[str, ...] = ()
    rounds: int = 0


def new_id() -> str:
    """The id of a reconciliation that begins now: the time in microseconds, this process and some bits of chance."""
    return f"{time.time_ns() // 1000:016d}-{os.getpid()}-{secrets.token_hex(4)}"


def _to_summary(text: bytes) -> ReconciliationSummary:
    """What was kept.

    Raises:
        ValueError: it is not that.
    """
    try:
        kept = json.loads(text)
        for name, kind in _KINDS.items():
            _expect(kept[name], kind)
        return ReconciliationSummary(**kept | {"changed": tuple(_expect(one, str) for one in kept["changed"])})
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"it is no reconciliation: {type(error).__name__}: {error}") from error


_KINDS: dict[str, type] = {
    **dict.fromkeys(("id", "query", "table", "verdict"), str),
    **dict.fromkeys(("at_us", "matched", "explained", "unexplained", "rounds"), int),
    **dict.fromkeys(("is_explained", "is_live"), bool),
}


def _expect(value: object, kind: type[T]) -> T:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


class KeptReconciliations:
    """Those of one OUZEL_HOME.

    Args:
        home: that folder.
        most: how many are kept.
    """

    def __init__(self, home: Path, most: int = KEPT) -> None:
        self.folder, self._most = home / FOLDER, most

    def keep(self, summary: ReconciliationSummary, report: str) -> bool:
        """Keep it, in place of what was kept under its id; whether its report was kept, too.

        Raises:
            OSError: it cannot be written. What was kept before is there.
        """
        self.folder.mkdir(0o700, parents=True, exist_ok=True)
        data, page, content = self._data(summary.id), self._page(summary.id), report.encode(errors="replace")
        is_small = len(content) <= REPORT_BYTES_MAX
        try:
            if is_small:
                put_bytes(page, content, PRIVATE)
            else:
                page.unlink(missing_ok=True)
            put_bytes(data, json.dumps(asdict(summary)).encode(), PRIVATE)
        except OSError as error:
            self._drop_halves(summary.id)
            if not isinstance(error, FileNotFoundError) or not self.folder.is_dir():
                raise
            # others have kept so many newer ones meanwhile that they removed what was begun here, as they would in a moment
        self._prune()
        return is_small

    def list_newest(self, queries: Collection[str] | None = None) -> list[ReconciliationSummary]:
        """Those that can be read, of these queries or of all, the newest first."""
        found = [summary for stem in self._stems() if (summary := self.find(stem)) is not None]
        return sorted(
            (one for one in found if queries is None or one.query in queries), key=lambda one: (-one.at_us, one.id)
        )

    def find(self, reconciliation_id: str) -> ReconciliationSummary | None:
        """The one of that id; None if there is none, or it cannot be read."""
        if not _ID.fullmatch(reconciliation_id):
            return None
        try:
            return _to_summary(self._data(reconciliation_id).read_bytes())
        except (OSError, ValueError):
            return None

    def describe_damaged(self) -> list[str]:
        """Of each that is there and cannot be read which file that is, a sentence each."""
        return [told for stem in self._stems() if (told := self.describe_damage(stem))]

    def describe_damage(self, reconciliation_id: str) -> str:
        """Why the one of that id cannot be read, as a sentence; empty if it can, or is not there."""
        if not _ID.fullmatch(reconciliation_id):
            return ""
        path = self._data(reconciliation_id)
        try:
            _to_summary(path.read_bytes())
        except FileNotFoundError:
            return ""
        except PermissionError as error:
            return f"{path} cannot be read: {error.strerror}; its reconciliation is not shown"
        except (OSError, ValueError):
            return (
                f"{path} cannot be read: it is damaged, or no file; its reconciliation is not shown. Remove it, or wait until newer ones "
                "take its place"
            )
        return ""

    def read_report(self, reconciliation_id: str) -> str | None:
        """Its report, a page of HTML; None if it has none."""
        if not _ID.fullmatch(reconciliation_id):
            return None
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return self._page(reconciliation_id).read_text(encoding="utf-8")
        return None

    def _data(self, stem: str) -> Path:
        return self.folder / f"{stem}.json"

    def _page(self, stem: str) -> Path:
        return self.folder / f"{stem}.html"

    def _files(self, stem: str) -> tuple[Path, Path, Path]:
        """All that a writer makes: the summary goes first, for without it there is nothing to show."""
        return self._data(stem), self._page(stem), self.folder / f"{stem}.new"

    def _drop_halves(self, stem: str) -> None:
        """Remove what a write that failed has left: the disk may be full."""
        data, page, fresh = self._files(stem)
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
            if not data.exists():
                page.unlink(missing_ok=True)

    def _stems(self) -> list[str]:
        """The ids of all of which there is any file."""
        try:
            names = {path.stem for path in self.folder.iterdir()}
        except OSError:
            return []
        return sorted(name for name in names if _ID.fullmatch(name))

    def _prune(self) -> None:
        """Remove all but the newest: a watch that goes on is as new as its last round."""
        newest = sorted(self._stems(), key=self._written_ns, reverse=True)
        for stem in newest[self._most :]:
            for path in self._files(stem):
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)

    def _written_ns(self, stem: str) -> int:
        times = []
        for path in self._files(stem):
            with contextlib.suppress(OSError):
                times.append(path.stat().st_mtime_ns)
        return max(times, default=0)
