"""Observe event time only where something waits for it."""

from __future__ import annotations

from ouzel.compiler.plan import Watermark
from ouzel.planner.rules.dag import Dag, with_inputs


def drop_unused_watermarks(dag: Dag) -> Dag:
    """Remove a watermark that nothing above it waits for; its time column need not be read then."""
    waited: dict[int, bool] = {id(node): False for node in dag.nodes()}
    for node in reversed(list(dag.nodes())):
        for upstream, waits in zip(node.inputs, node.waits, strict=True):
            waited[id(upstream)] |= waited[id(node)] or waits
    return dag.rebuilt(
        lambda node, inputs: (
            inputs[0] if isinstance(node, Watermark) and not waited[id(node)] else with_inputs(node, inputs)
        )
    )
