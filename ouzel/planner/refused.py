"""What no topology runs, known without an import of what runs one."""

from __future__ import annotations

from ouzel.compiler.plan import Node
from ouzel.compiler.plan.tables import Refused
from ouzel.planner.topology import Topology

TOPOLOGIES = "a topology"

NOT_IN_TOPOLOGIES: dict[type[Node], Refused] = {}
"""The classes of nodes that have no operator, and why."""


def check_nodes(topology: Topology) -> None:
    """See that tasks can run every node, before any is started.

    Raises:
        NotSupported: they cannot run one of them; the text says why.
    """
    for component in topology.components:
        for node in component.chain:
            if type(node) in NOT_IN_TOPOLOGIES:
                raise NOT_IN_TOPOLOGIES[type(node)].error(TOPOLOGIES, type(node))
