"""Queues in the table of connectors: a topology reads the queue, and a batch what runs have handled of it and kept (see items.py)."""

from __future__ import annotations

from functools import partial

from ouzel.connectors.base import BatchView, Options, Reads, Replay, always, never

KEPT = "$kept"
"""The option that a batch puts in: what runs have kept is read, and not the queue."""


def read_queue(open_source: str, what: str) -> Reads:
    """How a queue with options 'end' and 'items.path' is read; `what` says why a batch cannot read it itself: "is a queue, which ..."."""
    return Reads(
        open_source,
        bounded=lambda options: KEPT in options or options.get("end") == "empty",
        batch=BatchView(_as_kept, refusal=partial(_nothing_kept, what)),
        replay=Replay.TOKEN,
        changelog=never,
        ordered=never,
        grows=never,
        resumes=never,
        seeks=always,
        shared=True,
        at_rest=False,
        kept=_is_kept,
    )


def _as_kept(options: Options) -> dict[str, str]:
    return {**options, KEPT: "true"}


def _is_kept(options: Options) -> bool:
    return "items.path" in options


def _nothing_kept(what: str, options: Options) -> tuple[str, str] | None:
    if _is_kept(options):
        return None
    return (
        f"{what}, and nothing keeps what was handled",
        "add 'items.path' = 'DIR' to its WITH: what a run has handled is kept there, and a batch reads that",
    )
