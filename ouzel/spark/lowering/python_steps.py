"""Steps in Python in a PySpark job: the loop that the topology runs, over Arrow batches. The functions are in the job, as they are now."""

from __future__ import annotations

import textwrap
from base64 import b64encode
from pathlib import PurePath

from ouzel.compiler.catalog import ONE_ROW
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import ApplyPython, Scan
from ouzel.planner.rules.dag import Dag
from ouzel.spark.lowering.text import comment, quote

STEPS = "STEPS"
"""What a job calls its functions."""


def lower_python(node: ApplyPython, names: object) -> list[str]:
    """The call that makes a node's rows."""
    marks = [comment(f"{step.called}, {PurePath(step.place).name}") for step in node.steps]
    columns = ", ".join(f"{_quoted(field.name)} {to_spark_type(field.type)}" for field in node.schema)
    read = ", ".join(map(quote, dict.fromkeys((*node.reads, *node.carries))))
    return [*marks, f".select({read})", f".mapInArrow(python_steps({STEPS}[{quote(_name(node))}]), {quote(columns)})"]


def steps_text(dag: Dag) -> str:
    """The functions of a plan as a constant of its job, as cloudpickle has them; empty without any."""
    import cloudpickle

    nodes = {_name(node): node for node in dag.nodes() if isinstance(node, ApplyPython)}
    if not nodes:
        return ""
    lines = [
        comment("The functions of this query, as they were when it was planned. Whoever runs the job runs them."),
        f"{STEPS} = {{",
    ]
    for name, node in nodes.items():
        below = Scan("", "", (), node.input.schema, traits=ONE_ROW)
        text = b64encode(cloudpickle.dumps(node.with_inputs((below,)))).decode()
        lines += [f"    {quote(name)}: (", *(f'        "{line}"' for line in textwrap.wrap(text, 110)), "    ),"]
    return "\n".join([*lines, "}", "", "", ""])


def _name(node: ApplyPython) -> str:
    words = "_".join("".join(letter for letter in step.kind.value if letter.isalpha()) for step in node.steps[:3])
    return f"{words}_{node.stable_id[:8]}"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
