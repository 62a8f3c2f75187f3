"""The parts of EXPLAIN as rich renderables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ouzel.compiler.plan import UNBOUNDED, Node, Program, Sink
from ouzel.compiler.types import Schema
from ouzel.explain.state import list_growing, list_state
from ouzel.explain.wording import node_text
from ouzel.planner.epochs import why_without_epochs
from ouzel.planner.packing.capacity import PADDING, PADDING_PERCENT
from ouzel.planner.packing.crowding import describe_crowding
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.topology import DEFAULT_STREAM, Component, Output, Topology


def logical_section(program: Program) -> Iterator[RenderableType]:
    """The query as it was understood: one tree for each sink, inputs below their readers."""
    yield _title("Logical plan", "as written, before any rule")
    seen: set[int] = set()
    for sink in program.sinks:
        tree = Tree(_node(sink), guide_style="dim")
        _grow(tree, sink, seen)
        yield tree


def topology_section(made: Topology) -> Iterator[RenderableType]:
    """The components, each after what it reads, with all that is fused into it."""
    tasks = len(made.tasks())
    yield _title(
        "Topology", f"{made.name}: {len(made.components)} components, {tasks} tasks, {made.settings.delivery.value}"
    )
    for component in made.components:
        yield from ("",) if component is not made.components[0] else ()
        yield _component(component)
    yield from _warnings(made)


def state_section(made: Topology) -> Iterator[RenderableType]:
    """What each operator keeps, by which key and in how many tasks; and where it grows for ever, what would bound it."""
    yield _title("State", "what operators keep")
    kept = list(list_state(made))
    if not kept:
        yield Padding(Text("nothing", "dim"), (0, 0, 0, 2))
    for one in kept:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        bound = "yes" if one["bounded"] else f"{UNBOUNDED}: it grows as long as its input does"
        facts = [("keeps", one["keeps"]), ("by", one["by"]), ("bounded", bound)]
        for name, value in (*facts, *(("way out", way) for way in one["ways_out"])):
            table.add_row(Text(name, "dim"), Text(value, _state_style(value) if name == "bounded" else ""))
        head = Text.assemble((one["component"], "bold"), (f" x {one['tasks']}", "cyan"), f"  {one['operator']}")
        yield Padding(Group(head, Padding(table, (0, 0, 0, 2))), (0, 0, 0, 2))


def packing_section(plan: PackingPlan, made: Topology, cores: int | None = None) -> Iterator[RenderableType]:
    """The containers, what each needs, and which tasks live in it; a word if these are far more than so many `cores` carry."""
    own = f"{PADDING.cpu:g} CPU and {_memory(PADDING.ram_mb)} or {PADDING_PERCENT} % of each are for its own processes"
    yield _title("Packing", f"{made.settings.packing.replace('-', ' ')}; {own}")
    table = Table("container", "CPU", "RAM", "tasks", box=None, padding=(0, 3, 0, 0), header_style="dim")
    for column in (1, 2):
        table.columns[column].justify = "right"
    for container in plan.containers:
        resources = container.resources
        table.add_row(str(container.id), f"{resources.cpu:g}", _memory(resources.ram_mb), _tasks(container, made))
    yield Padding(table, (0, 0, 0, 2))
    if cores is not None and (crowding := describe_crowding(plan, cores)):
        yield Padding(Text(crowding, style="yellow"), (0, 0, 0, 2))


def batch_section(program: Program, name: str) -> Iterator[RenderableType]:
    """The PySpark job that answers the same question."""
    from rich.syntax import Syntax

    from ouzel.spark.lowering import spark_job

    yield _title("Batch", "the same question as a PySpark job; `folder` is where the query's file is")
    yield Syntax("", "python", theme="ansi_dark").highlight(spark_job(program, Path("."), name))


def streaming_section(program: Program, name: str) -> Iterator[RenderableType]:
    """What `--engine spark` runs: of each sink's query Spark's output mode, the operators of ours and why, and its text."""
    from rich.syntax import Syntax

    from ouzel.spark.lowering.streaming import streaming_queries

    for query in streaming_queries(program, Path("."), name):
        late = f" and {query.late.table}" if query.late else ""
        yield _title(
            "Streaming",
            f"{query.sink.table}{late}, in Spark's {query.mode.value} mode; what stands here is not Spark's own",
        )
        table = Table("operator of Ouzel's in Spark's state", "why", box=None, padding=(0, 3, 0, 0), header_style="dim")
        for label, why in query.ours.items():
            table.add_row(label, why)
        yield Padding(table if query.ours else Text("nothing: all nodes are Spark's own"), (0, 0, 1, 2))
        for sink in (query.sink, query.late) if query.late else (query.sink,):
            yield Padding(Text(_describe_again(sink), style="dim"), (0, 0, 1, 2))
        yield Syntax("", "python", theme="ansi_dark").highlight(query.text + query.after)


def _describe_again(sink: Sink) -> str:
    """What a table has of a micro-batch that comes again after a crash."""
    if sink.traits.returned:
        return f"{sink.table}: rows are handed on when their micro-batch is committed"
    told = f"{sink.table}: a micro-batch that comes again after a crash is"
    if sink.traits.once:
        return f"{told} not written twice"
    once = "; with 'delivery' = 'effectively-once' it is not" if sink.traits.publishes else ""
    return f"{told} written again (at least once){once}"


def _memory(ram_mb: int) -> str:
    return f"{ram_mb / 1024:.3g} GB" if ram_mb >= 1024 else f"{ram_mb} MB"


def _title(name: str, remark: str) -> RenderableType:
    title = Text.assemble((name, "bold cyan"), ("  " + remark, "dim"))
    return Group("", Rule(title, align="left", style="dim"))


def _node(node: Node) -> RenderableType:
    kind, does = node_text(node)
    line = Text.assemble((kind, "bold"), " ", does)
    if isinstance(node, Sink):
        return line
    changed = not node.inputs or node.schema != node.inputs[0].schema
    columns = [Text(schema_text(node.schema), "dim")] if changed else []
    return Group(line, Text(" · ", "dim").join([*_properties(node), *columns]))


def _grow(tree: Tree, node: Node, seen: set[int]) -> None:
    for upstream in node.inputs:
        if id(upstream) in seen:
            kind, does = node_text(upstream)
            tree.add(Text.assemble((kind, "bold"), " ", does, ("  the same as above, computed once", "dim italic")))
        else:
            seen.add(id(upstream))
            _grow(tree.add(_node(upstream)), upstream, seen)


def _properties(node: Node) -> list[Text]:
    marks = [Text("retracts", "yellow") if node.retracts else Text("appends", "green")]
    if node.time_column:
        marks.append(Text(f"time {node.time_column}", "blue"))
    if node.state_bound:
        marks.append(Text(f"state {node.state_bound}", _state_style(node.state_bound)))
    return marks


def _state_style(bound: str) -> str:
    return "bold red" if bound.startswith(UNBOUNDED) else "magenta"


def _component(component: Component) -> RenderableType:
    kind = "spout" if component.is_spout else "sink" if isinstance(next(iter(component.chain), None), Sink) else "bolt"
    head = Text.assemble((component.name, "bold"), (f"  {kind} x {component.parallelism}", "cyan"))
    return Padding(Group(head, Padding(_facts(component), (0, 0, 0, 2))), (0, 0, 0, 2))


def _facts(component: Component) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts(component):
        style = {"reads": "blue", "writes": "dim", "state": _state_style(value)}.get(name, "")
        table.add_row(Text(name, "dim" if name.islower() else "bold"), Text(value, style))
    return table


def facts(component: Component) -> Iterator[tuple[str, str]]:
    """What is to be said of a component, name by name, in order."""
    for link in component.inputs:
        stream = "" if link.stream == DEFAULT_STREAM else f" stream {link.stream}"
        yield "reads", f"{link.component}{stream} by {link.grouping} grouping"
    yield from _list_fused(component)
    if component.user is not None:
        yield "runs", type(component.user).__name__
    for node in component.chain:
        if node.state_bound:
            yield "state", node.state_bound
    if not _has_branches(component):
        yield from (("writes", _describe_output(output)) for output in component.outputs)


def _list_fused(component: Component) -> Iterator[tuple[str, str]]:
    """The nodes; where the chain branches, with what each branch reads and writes."""
    before: Node | None = None
    for place, node in enumerate(component.chain):
        if before is not None and node.inputs[0] is not before:
            yield "branch", " ".join(("of", *node_text(node.inputs[0])))
        yield node_text(node)
        before = node
        if _has_branches(component):
            yield from (("writes", _describe_output(output)) for output in component.outputs if output.place == place)


def _has_branches(component: Component) -> bool:
    return bool(component.chain) and len(component.outputs) > 1


def _describe_output(output: Output) -> str:
    stream = "" if output.stream == DEFAULT_STREAM else f"stream {output.stream}: "
    return f"{stream}{'changes' if output.retracts else 'rows'} of {schema_text(output.schema)}"


def schema_text(schema: Schema) -> str:
    """Columns and their types in one line."""
    return ", ".join(map(str, schema))


def _warnings(made: Topology) -> Iterator[RenderableType]:
    grows = list(dict.fromkeys(component.name for component, _ in list_growing(made)))
    if grows:
        text = f"The state of {', '.join(grows)} grows with every new key; a window would bound it."
        yield Padding(Text(text, "red"), (1, 0, 0, 2))
    if why := why_without_epochs(made):
        yield Padding(
            Text(f"A task that dies loses its state, for there are no epochs: {why}.", "yellow"), (1, 0, 0, 2)
        )


def _tasks(container: Container, made: Topology) -> str:
    names = []
    for component in made.components:
        indexes = [task.index + 1 for task in container.tasks if task.component == component.name]
        if indexes:
            names.append(
                component.name
                + ("" if component.parallelism == 1 else f" {_ranges(indexes)} of {component.parallelism}")
            )
    return ", ".join(names)


def _ranges(numbers: list[int]) -> str:
    """1, 2, 3, 5 as `1-3+5`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return "+".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
