"""The last traces of a topology: what each task did for a batch that was followed from its source to the sinks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ouzel.runtime.cluster.submitted.asking import find_tasks
from ouzel.runtime.observe.trace_files import TaskSpan, read_last_spans
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.protocol.tracing import AWAIT_ACKS

TRACES_SHOWN, SPANS_SHOWN = 3, 40


@dataclass(frozen=True)
class Trace:
    """A trace, as far as the ends of the files know it.

    Attributes:
        began_us: when its batch began, in microseconds since 1970.
        spans: by when they began, at most SPANS_SHOWN.
    """

    began_us: int
    spans: tuple[TaskSpan, ...]


def list_traces(job: RunDescription) -> list[Trace]:
    """The last traces, the latest first; none if none are asked for."""
    if not job.topology.settings.trace_sample:
        return []
    return last_traces(one for folder, task in find_tasks(job) for one in read_last_spans(folder, task.id))


def last_traces(spans: Iterable[TaskSpan]) -> list[Trace]:
    """The latest of those whose first span is known; of those that are acked by now, if there are such."""
    found: dict[tuple[int, int], list[TaskSpan]] = {}
    for one in spans:
        found.setdefault((one.span.root_task, one.span.sequence), []).append(one)
    known = [trace for trace in found.values() if any(not one.span.parents for one in trace)]
    acked = [trace for trace in known if any(one.span.doing == AWAIT_ACKS for one in trace)]
    made = sorted(map(_to_trace, acked or known), key=lambda trace: trace.began_us, reverse=True)
    return made[:TRACES_SHOWN]


def _to_trace(spans: list[TaskSpan]) -> Trace:
    ordered = sorted(spans, key=lambda one: (one.span.began_us, one.span.ended_us))
    return Trace(ordered[0].span.began_us, tuple(ordered[:SPANS_SHOWN]))
