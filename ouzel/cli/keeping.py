"""Reconciliations that were made are kept in OUZEL_HOME, where `ouzel ui` shows them; none fails because it cannot be kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ouzel.cli.speech import speaker

if TYPE_CHECKING:
    from ouzel.reconcile import Reconciliation
    from ouzel.runtime.observe.reconciled import ReconciliationSummary


def keep_reconciliation(found: Reconciliation, reconciliation_id: str, *, is_live: bool, rounds: int = 0) -> None:
    """Keep what was found, in place of what was kept under that id; say so if that cannot be done."""
    from ouzel.reconcile.report import page
    from ouzel.runtime.cluster.submitted.registry import find_ouzel_home
    from ouzel.runtime.observe.reconciled import KeptReconciliations

    kept = KeptReconciliations(find_ouzel_home())
    summary = summarize(found, reconciliation_id, is_live=is_live, rounds=rounds)
    try:
        has_report = kept.keep(summary, page(found))
    except OSError as error:
        _warn(f"this reconciliation cannot be kept in {kept.folder}: {error.strerror}; ouzel ui does not show it")
        return
    if not has_report:
        _warn("the report is too large to be kept for ouzel ui; write it with --report DIR")


def _warn(text: str) -> None:
    from rich.text import Text

    speaker().print(Text(text, style="yellow"), soft_wrap=True)


def summarize(
    found: Reconciliation, reconciliation_id: str, *, is_live: bool, rounds: int = 0
) -> ReconciliationSummary:
    """What is kept of it beside its report."""
    from ouzel.reconcile.report import verdict
    from ouzel.runtime.observe.reconciled import ReconciliationSummary

    return ReconciliationSummary(
        id=reconciliation_id,
        query=found.record.query,
        table=found.table,
        at_us=time.time_ns() // 1000,
        verdict=verdict(found),
        is_explained=found.explained,
        is_live=is_live,
        matched=found.matched,
        explained=found.differing - found.unexplained,
        unexplained=found.unexplained,
        changed=tuple(found.tampered),
        rounds=rounds,
    )
