"""Files that a command keeps for itself, and that may be damaged: such a file is set aside under another name, never written over."""

from __future__ import annotations

from pathlib import Path

from ouzel.errors import OuzelError

ASIDE_MAX = 9
"""So many damaged files are set aside; with one more nothing is done until somebody has looked."""


def set_aside(path: Path) -> Path:
    """Give a damaged file another name, at which it stays for people to look at; that name. Only who alone writes the file does so.

    Raises:
        OuzelError: it cannot be done; the file is where it was.
    """
    aside = next((one for one in _asides(path) if not one.exists()), None)
    if aside is None:
        raise OuzelError(
            f"{path} is damaged, as {ASIDE_MAX} before it were; look for what damages it, and remove {path.stem}.damaged-*"
        )
    try:
        path.rename(aside)
    except OSError as error:
        raise OuzelError(f"{path} is damaged, and cannot be renamed: {error.strerror}; give it another name") from error
    return aside


def list_asides(path: Path) -> list[Path]:
    """The damaged files that were set aside in the place of this one."""
    return [one for one in _asides(path) if one.exists()]


def _asides(path: Path) -> list[Path]:
    return [path.with_name(f"{path.stem}.damaged-{number}{path.suffix}") for number in range(1, ASIDE_MAX + 1)]
