"""Whole topologies in one process from one seed: with faults for tests, without as the memory engine."""

from ouzel.runtime.simulator.engine import start_memory
from ouzel.runtime.simulator.simulation import SimulatedRun, simulate
from ouzel.runtime.simulator.world import World

__all__ = ["SimulatedRun", "World", "simulate", "start_memory"]
