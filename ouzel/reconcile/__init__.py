"""Where the stream's answer and the batch job's differ, row by row, and why."""

from ouzel.reconcile.classes import Class
from ouzel.reconcile.reconciliation import Reconciliation, check, reconcile
from ouzel.reconcile.recorder import Recorder, record_run, recordable

__all__ = ["Class", "Reconciliation", "Recorder", "check", "reconcile", "record_run", "recordable"]
