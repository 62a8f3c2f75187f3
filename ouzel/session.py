"""What drives a query: load it (compile, plan, pack), then start it on an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ouzel.errors import NotSupported, OuzelError, QueryError
from ouzel.job import Job, connector_traits, draw_seed, load, load_text, mark_sides, with_settings
from ouzel.planner.endless import refuse_endless_order
from ouzel.planner.epochs import with_epochs_of_run
from ouzel.runtime.run import Handle

__all__ = [
    "Job",
    "connector_traits",
    "draw_seed",
    "load",
    "load_text",
    "mark_sides",
    "ready",
    "refuse_nothing",
    "start",
    "starting_by",
    "with_settings",
]


def start(job: Job, engine: str = "heron", master: str | None = None, conf: Iterable[tuple[str, str]] = ()) -> Handle:
    """Run the job on `heron` (real processes), `memory` (the simulator without faults) or `spark` (Structured Streaming).

    Spark runs on `master`, by default this machine's cores, with the settings `conf` of its own.

    Raises:
        OuzelError: there is no such engine, or it cannot be started.
    """
    refuse_nothing(job)
    refuse_endless_order(job.program)
    if engine not in ("heron", "spark") and job.settings.delivery.publishes:
        told = f"'delivery' = 'effectively-once' is kept by processes and by Spark, and not by --engine {engine}"
        raise NotSupported(
            told, instead="leave --engine out, or SET 'delivery' = 'at-least-once'", about=("SET", "delivery")
        )
    if engine == "spark":
        from ouzel.spark.streaming import start_structured

        return start_structured(job, master=master, conf=conf)
    if engine == "heron" and _instead is not None:
        return _instead(job)
    topology = ready(job).topology
    if engine == "memory":
        from ouzel.runtime.simulator.engine import start_memory

        return start_memory(topology, job.packing, job.directory)
    if engine == "heron":
        from ouzel.runtime.cluster.local import start_heron

        return start_heron(with_epochs_of_run(topology), job.packing, job.directory)
    if not isinstance(engine, str):
        raise OuzelError(
            f"the engine is a text, and {engine!r:.60} is none; write heron, memory or spark; settings go by their names, parallelism=4, "
            "to the methods of a stream and to ouzel.query"
        )
    raise OuzelError(f"there is no engine '{engine}'; write heron, memory or spark")


def refuse_nothing(job: Job) -> None:
    """See that a job asks for something that runs.

    Raises:
        QueryError: it does not.
    """
    if not job.topology.components:
        raise QueryError("the query asks for nothing that runs", instead="end it with SELECT ..., or with INSERT INTO")


def ready(job: Job) -> Job:
    """The job as a topology runs it: with a seed, and what the tables hold now that tasks read whole.

    Raises:
        OuzelError: no topology can run it, or one of those tables is not there.
    """
    from ouzel.planner.refused import check_nodes

    job = draw_seed(mark_sides(job))
    check_nodes(job.topology)
    return job


_instead: Callable[[Job], Handle] | None = None


def is_started_elsewhere() -> bool:
    """Whether somebody else starts what the program starts (see `starting_by`)."""
    return _instead is not None


@contextmanager
def starting_by(start_instead: Callable[[Job], Handle]) -> Iterator[None]:
    """Inside, a topology is not started in processes: `start_instead` is called."""
    global _instead
    _instead = start_instead
    try:
        yield
    finally:
        _instead = None


def start_instead_of_submitting(job: Job) -> None:
    """Nothing, unless somebody else starts what the program starts: then the job is his, under the name that he has for it."""
    if _instead is not None:
        _instead(job)
