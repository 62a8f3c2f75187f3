"""What is asked of the tasks of a topology now, for some minutes, as sentences."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ouzel.runtime.cluster.submitted.asking import ToldFiles, find_unreadable
from ouzel.runtime.process.asks import Ask, AskKind, ask_path, read_ask
from ouzel.tracker import words

NAMES_SHOWN = 5


def describe_asks(told: ToldFiles, now_s: float) -> list[str]:
    """A sentence for each log level, and for sampling, with the tasks of which it is asked; nothing of what is over."""
    found: dict[tuple[AskKind, Ask], list[str]] = {}
    for kind in AskKind:
        for folder, task in told.find(partial(_ask_path_of, kind)):
            ask = read_ask(ask_path(folder, kind, task.id))
            if ask is not None and ask.until_us > now_s * 1e6:
                found.setdefault((kind, ask), []).append(f"{task.component}[{task.index}]")
    return [_sentence(kind, ask, names) for (kind, ask), names in found.items()]


def describe_unreadable(told: ToldFiles) -> list[str]:
    """A sentence for each file of what is asked of tasks, and of what they have told for that, that cannot be read."""
    return [
        f"{path} cannot be read: it is damaged, or no file; what is in it is not shown"
        for path in find_unreadable(told)
    ]


def _ask_path_of(kind: AskKind, folder: Path, task: int) -> Path:
    return ask_path(folder, kind, task)


def _sentence(kind: AskKind, ask: Ask, names: list[str]) -> str:
    who = ", ".join(names[:NAMES_SHOWN]) + (f" and {len(names) - NAMES_SHOWN:,} more" if names[NAMES_SHOWN:] else "")
    what = f"log level {ask.value}" if kind is AskKind.LOG_LEVEL else "rows are sampled"
    return f"until {words.time_text(ask.until_us)} UTC {what}: {who}"
