"""Packing: which task lives in which container. A policy is a class behind `plan.Packing` and one line in POLICIES."""

from __future__ import annotations

import difflib

from ouzel.errors import PlanError
from ouzel.planner.packing.first_fit_decreasing import FirstFitDecreasing
from ouzel.planner.packing.plan import Packing, PackingPlan
from ouzel.planner.packing.round_robin import RoundRobin
from ouzel.planner.topology import Topology

POLICIES: dict[str, type[Packing]] = {
    "first-fit-decreasing": FirstFitDecreasing,
    "round-robin": RoundRobin,
}


def policy(topology: Topology) -> Packing:
    """The topology's packing policy, initialized.

    Raises:
        PlanError: its settings name none that exists.
    """
    name = topology.settings.packing
    if name not in POLICIES:
        near = difflib.get_close_matches(name, POLICIES, 1) or [" or ".join(POLICIES)]
        raise PlanError(f"there is no packing '{name}'; write {near[0]}")
    chosen = POLICIES[name]()
    chosen.initialize(topology)
    return chosen


def pack(topology: Topology) -> PackingPlan:
    """The packing plan for a topology as submitted.

    Raises:
        PlanError: an instance fits into no container, or there is no such policy.
    """
    chosen = policy(topology)
    try:
        return chosen.pack()
    finally:
        chosen.close()
