"""Steps in Python in a PySpark job: the loop that the topology runs, over Arrow batches. The functions are in the job, as they are now."""

from __future__ import annotations

import os
import sys
import sysconfig
import textwrap
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path, PurePath
from types import ModuleType

from ouzel.compiler.catalog import GIVEN_ROWS
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
    held = dict(entry for dag in dags for node in dag.nodes() for entry in _pickled_steps(node))
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


def _pickled_steps(node: Node) -> Iterator[tuple[str, bytes]]:
    """What a node computes in Python, by the name that the job has for it."""
    if isinstance(node, ApplyPython):
        below = Scan("", "", (), node.input.schema, traits=GIVEN_ROWS)
        yield (
            _name(node),
            _pickle(
                node.with_inputs((below,)), [step.called for step in node.steps], (step.function for step in node.steps)
            ),
        )
    if isinstance(node, Aggregate):
        for call in node.calls:
            made = row_of(call).state.python
            if made is not None:
                yield call.function, _pickle(made, [call.function], _parts(made))


def _parts(made: object) -> Iterator[object]:
    """A monoid, and whatever it is made of."""
    yield type(made) if is_dataclass(made) else made
    for inner in (getattr(made, field.name) for field in fields(made)) if is_dataclass(made) else ():
        for part in inner if isinstance(inner, tuple) else (inner,):
            yield from _parts(part)


def _pickle(held: object, called: Iterable[str], functions: Iterable[object]) -> bytes:
    """An object, and with it the modules that no package has: Spark's workers could not import them.

    Where one of those that its functions use holds what cannot be sent, as a lock, only the functions' own go along, and workers import it.
    """
    own = {getattr(function, "__module__", None) for function in functions}
    theirs = [module for module in list(sys.modules.values()) if _is_theirs(module)]
    try:
        with suppress(Exception):
            return _by_value(held, [module for module in theirs if module.__name__ in own or _is_programs(module)])
        return _by_value(held, [module for module in theirs if module.__name__ in own])
    except Exception as error:
        raise NotSupported(
            f"a PySpark job cannot hold {', '.join(called)}: {error}",
            instead="install its module where Spark's workers run",
        ) from error


def pickle_with_modules(held: object, called: Iterable[str]) -> bytes:
    """An object that may hold functions of the program, as `_pickle` makes it where nobody knows which functions these are.

    Raises:
        NotSupported: it cannot be sent; `called` says what it is.
    """
    return _pickle(held, called, ())


def _by_value(held: object, modules: Iterable[ModuleType]) -> bytes:
    """An object, with what these modules define as it is now instead of by its name."""
    import cloudpickle

    fresh = [module for module in modules if module.__name__ not in cloudpickle.list_registry_pickle_by_value()]
    for module in fresh:
        cloudpickle.register_pickle_by_value(module)
    try:
        text: bytes = cloudpickle.dumps(held)
        return text
    finally:
        for module in fresh:
            cloudpickle.unregister_pickle_by_value(module)


def _is_theirs(module: object) -> bool:
    """Whether a module is the user's; `sys.modules` may hold anything."""
    path = getattr(module, "__file__", None)
    if not isinstance(module, ModuleType) or not isinstance(path, str) or module.__name__ == "__main__":
        return False
    return sys.modules.get(module.__name__) is module and not path.startswith(INSTALLED)


def _is_programs(module: ModuleType) -> bool:
    """Whether it is a part of the program, and no library: workers have libraries too, and those on PYTHONPATH."""
    path = str(module.__file__)
    libraries = tuple(f"{place}{os.sep}" for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place)
    return "-packages" not in path and not path.startswith(libraries)


INSTALLED = (
    str(Path(__file__).parents[2]), *(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")),
)  # fmt: skip
"""Where modules are that workers have too."""


def _name(node: ApplyPython) -> str:
    words = "_".join("".join(letter for letter in step.kind.value if letter.isalpha()) for step in node.steps[:3])
    return f"{words}_{node.stable_id[:8]}"


def _quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
