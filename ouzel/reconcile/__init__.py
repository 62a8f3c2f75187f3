"""Where the stream's answer and the batch job's differ, row by row, and why."""

from ouzel.reconcile.classes import Class
from ouzel.reconcile.cut import Cut
from ouzel.reconcile.reconciliation import Reconciliation, check, reconcile
from ouzel.reconcile.recorder import Recorder, record_run, recordable

__all__ = ["Class", "Cut", "Reconciliation", "Recorder", "check", "reconcile", "record_run", "recordable"]
