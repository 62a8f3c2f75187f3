"""Several reconciliations of one run, each of another part of time, as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ouzel.reconcile.comparing.cut import Cut
from ouzel.reconcile.comparing.timeline import Timeline, slice_width
from ouzel.reconcile.explaining.classes import Class
from ouzel.reconcile.reconciliation import SHOWN, Reconciliation
from ouzel.spark.io.bounds import Ranges


def add_round(before: Reconciliation, found: Reconciliation) -> Reconciliation:
    """`total` and `found` as one, if their parts do not overlap: counts added up, samples concatenated, all else as `found` has it."""
    kinds = [kind for kind in Class if kind in before.counts or kind in found.counts]
    samples = {kind: (*before.samples.get(kind, ()), *found.samples.get(kind, ()))[:SHOWN] for kind in kinds}
    return replace(
        found,
        record=replace(found.record, ranges=_ranges(before.record.ranges, found.record.ranges)),
        matched=before.matched + found.matched,
        stream_rows=before.stream_rows + found.stream_rows,
        batch_rows=before.batch_rows + found.batch_rows,
        counts={kind: before.counts.get(kind, 0) + found.counts.get(kind, 0) for kind in kinds},
        samples=samples,
        timeline=_timelines(before.timeline, found.timeline, found.facts.step_us),
        notes=tuple(dict.fromkeys((*before.notes, *found.notes))),
        tampered=tuple(dict.fromkeys((*before.tampered, *found.tampered))),
        cut=Cut(before.cut.from_us, found.cut.to_us),
    )


def _ranges(before: Ranges, found: Ranges) -> Ranges:
    """From the earlier of both first offsets to the end of the later one."""
    return {
        table: {
            name: (min(start, before.get(table, {}).get(name, (start, end))[0]), end)
            for name, (start, end) in parts.items()
        }
        for table, parts in found.items()
    }


def _timelines(before: Timeline | None, found: Timeline | None, step_us: int) -> Timeline | None:
    if before is None or found is None:
        return before or found
    first = min(before.first_us, found.first_us)
    last = max(each.first_us + (each.slices - 1) * each.width_us for each in (before, found))
    width = max(before.width_us, found.width_us, slice_width(last - first, step_us))
    slices = last // width - first // width + 1
    counts: dict[Class, list[int]] = {}
    for each in (before, found):
        _add(counts, each, first // width, width, slices)
    ordered = {kind: tuple(counts[kind]) for kind in Class if kind in counts}
    return Timeline(first // width * width, width, slices, ordered)


def _add(counts: dict[Class, list[int]], each: Timeline, first: int, width_us: int, slices: int) -> None:
    """Timelines added up; a slice is counted where it begins."""
    of_each: Mapping[Class, tuple[int, ...]] = each.counts
    for kind, numbers in of_each.items():
        line = counts.setdefault(kind, [0] * slices)
        for place, number in enumerate(numbers):
            line[(each.first_us + place * each.width_us) // width_us - first] += number
