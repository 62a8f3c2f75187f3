"""Steps in Python in a PySpark job: the loop that the topology runs, over Arrow batches. The functions are in the job, as they are now."""

from __future__ import annotations

import sys
import sysconfig
import textwrap
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path, PurePath
from types import ModuleType

from ouzel.compiler.catalog import ONE_ROW
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import Aggregate, ApplyPython, Node, Scan
from ouzel.compiler.plan.aggregates import row_of
from ouzel.errors import NotSupported
from ouzel.planner.rules.dag import Dag
from ouzel.spark.lowering.text import comment, quote

STEPS = "STEPS"
"""What a job calls its functions."""


def lower_python(node: ApplyPython, names: object) -> list[str]:
    """The call that makes a node's rows."""
    marks = [comment(f"{step.called}, {PurePath(step.place).name}") for step in node.steps]
    columns = ", ".join(f"{_quote(field.name)} {to_spark_type(field.type)}" for field in node.schema)
    read = ", ".join(map(quote, dict.fromkeys((*node.reads, *node.carries))))
    return [*marks, f".select({read})", f".mapInArrow(python_steps({STEPS}[{quote(_name(node))}]), {quote(columns)})"]


def steps_text(*dags: Dag) -> str:
    """The functions of plans as a constant of their job, as cloudpickle has them; empty without any."""
    held = dict(entry for dag in dags for node in dag.nodes() for entry in _held(node))
    if not held:
        return ""
    lines = [
        comment("The functions of this query, as they were when it was planned. Whoever runs the job runs them."),
        f"{STEPS} = {{",
    ]
    for name, pickled in held.items():
        text = b64encode(pickled).decode()
        lines += [f"    {quote(name)}: (", *(f'        "{line}"' for line in textwrap.wrap(text, 110)), "    ),"]
    return "\n".join([*lines, "}", "", "", ""])


def _held(node: Node) -> Iterator[tuple[str, bytes]]:
    """What a node computes in Python, by the name that the job has for it."""
    if isinstance(node, ApplyPython):
        below = Scan("", "", (), node.input.schema, traits=ONE_ROW)
        yield (
            _name(node),
            _pickle(
                node.with_inputs((below,)), [step.called for step in node.steps], (step.function for step in node.steps)
            ),
        )
    if isinstance(node, Aggregate):
        for call in node.calls:
            made = row_of(call).python
            if made is not None:
                yield call.function, _pickle(made, [call.function], _parts(made))


def _parts(made: object) -> Iterator[object]:
    """A monoid, and whatever it is made of."""
    yield type(made) if is_dataclass(made) else made
    for inner in (getattr(made, field.name) for field in fields(made)) if is_dataclass(made) else ():
        for part in inner if isinstance(inner, tuple) else (inner,):
            yield from _parts(part)


def _pickle(held: object, called: Iterable[str], functions: Iterable[object]) -> bytes:
    """An object, and with it the modules of its functions that no package has: Spark's workers could not import them."""
    import cloudpickle

    names = {getattr(function, "__module__", None) for function in functions}
    theirs = [sys.modules[name] for name in names if name in sys.modules and _is_theirs(sys.modules[name])]
    for module in theirs:
        cloudpickle.register_pickle_by_value(module)
    try:
        text: bytes = cloudpickle.dumps(held)
        return text
    except Exception as error:
        raise NotSupported(
            f"a PySpark job cannot hold {', '.join(called)}: {error}",
            instead="install its module where Spark's workers run",
        ) from error
    finally:
        for module in theirs:
            cloudpickle.unregister_pickle_by_value(module)


def _is_theirs(module: ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    return path is not None and module.__name__ != "__main__" and not path.startswith(INSTALLED)


INSTALLED = (
    str(Path(__file__).parents[2]), *(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")),
)  # fmt: skip
"""Where modules are that workers have too."""


def _name(node: ApplyPython) -> str:
    words = "_".join("".join(letter for letter in step.kind.value if letter.isalpha()) for step in node.steps[:3])
    return f"{words}_{node.stable_id[:8]}"


def _quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
