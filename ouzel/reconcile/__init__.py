"""Where the stream's answer and the batch job's differ, row by row, and why."""

from ouzel.reconcile.comparing.cut import Cut
from ouzel.reconcile.explaining.classes import Class
from ouzel.reconcile.reconciliation import Reconciliation, check, reconcile
from ouzel.reconcile.recording.recorder import Recorder, record_run, recordable

__all__ = ["Class", "Cut", "Reconciliation", "Recorder", "check", "reconcile", "record_run", "recordable"]
