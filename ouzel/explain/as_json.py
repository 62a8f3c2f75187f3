"""EXPLAIN for programs: plain dictionaries and lists, ready for `json.dumps`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ouzel.compiler.plan import Node, Program
from ouzel.compiler.types import Schema
from ouzel.explain.wording import node_text
from ouzel.planner.epochs import interval_ms_of_run, why_without_epochs
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.rules.dag import Dag
from ouzel.planner.topology import Component, Topology


def describe_nodes(program: Program) -> list[dict[str, Any]]:
    """The nodes, inputs first; `inputs` are positions in this list."""
    nodes = list(Dag(program.sinks).nodes())
    numbers = {id(node): number for number, node in enumerate(nodes)}
    return [_node(node) | {"inputs": [numbers[id(upstream)] for upstream in node.inputs]} for node in nodes]


def describe_topology(made: Topology) -> dict[str, Any]:
    """The components, each after what it reads."""
    return {
        "name": made.name,
        "delivery": made.settings.delivery.value,
        "epochs": {"interval_ms": interval_ms_of_run(made), "why_none": why_without_epochs(made)},
        "components": [_component(component) for component in made.components],
    }


def describe_packing(plan: PackingPlan) -> list[dict[str, Any]]:
    """The containers with their tasks."""
    return [
        {
            "id": container.id,
            "cpu": container.resources.cpu,
            "ram_mb": container.resources.ram_mb,
            "tasks": [{"id": task.id, "component": task.component, "index": task.index} for task in container.tasks],
        }
        for container in plan.containers
    ]


def _node(node: Node) -> dict[str, Any]:
    kind, does = node_text(node)
    return {
        "kind": kind,
        "does": does,
        "id": node.stable_id,
        "schema": _schema(node.schema),
        "retracts": node.retracts,
        "time_column": node.time_column,
        "state": node.state_bound,
    }


def _component(component: Component) -> dict[str, Any]:
    return {
        "name": component.name,
        "kind": "spout" if component.is_spout else "bolt",
        "parallelism": component.parallelism,
        "cpu": component.resources.cpu,
        "ram_mb": component.resources.ram_mb,
        "inputs": [
            {
                "component": link.component,
                "stream": link.stream,
                "grouping": link.grouping.kind.value,
                "fields": list(link.grouping.fields),
            }
            for link in component.inputs
        ],
        "operators": [_node(node) for node in component.chain],
        "outputs": [
            {
                "stream": output.stream,
                "of": output.place % max(1, len(component.chain)),
                "schema": _schema(output.schema),
                "retracts": output.retracts,
            }
            for output in component.outputs
        ],
    }


def _schema(schema: Schema) -> list[dict[str, Any]]:
    return [{"name": field.name, "type": str(field.type), "nullable": field.nullable} for field in schema]


def describe_streams(program: Program, name: str) -> list[dict[str, Any]]:
    """What `--engine spark` runs, query by query."""
    from ouzel.spark.lowering.streaming import streaming_queries

    return [
        {
            "table": query.sink.table,
            "late_table": query.late.table if query.late else None,
            "mode": query.mode.value,
            "ours": dict(query.ours),
            "text": query.text + query.after,
        }
        for query in streaming_queries(program, Path("."), name)
    ]
