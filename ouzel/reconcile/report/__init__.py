"""The report: one HTML page that needs nothing else, and the differences as Parquet."""

from __future__ import annotations

from pathlib import Path

from ouzel.reconcile.reconciliation import Reconciliation
from ouzel.reconcile.report.page import page, verdict

__all__ = ["page", "verdict", "write_report"]


def write_report(found: Reconciliation, directory: Path, further: bool = False) -> Path:
    """Write `index.html` and `differences.parquet` (a folder, as Spark writes it) into the directory; the path of the page.

    With `further` the differences are added to those that are there.
    """
    directory.mkdir(parents=True, exist_ok=True)
    found.differences.write.mode("append" if further else "overwrite").parquet(str(directory / "differences.parquet"))
    target = directory / "index.html"
    target.write_text(page(found), encoding="utf-8")
    return target
