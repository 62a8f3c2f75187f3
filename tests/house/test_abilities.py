"""What a reader, a writer, a source or an operator can do is declared, so that a type checker sees it.

`getattr` and `hasattr` with a name are how abilities hide from it. Those that remain ask something of values that are not ours, or go by
a list of names.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from tests.house.source import listed, nodes, package, short

if TYPE_CHECKING:
    from ouzel.connectors.backlog import Backlogged, Measured
    from ouzel.connectors.blackhole import Blackhole
    from ouzel.connectors.file.sink import FileSink
    from ouzel.connectors.file.source import FileSource
    from ouzel.connectors.file.text import TextReader
    from ouzel.connectors.kafka.reader import KafkaReader
    from ouzel.connectors.kafka.source import KafkaSource
    from ouzel.connectors.kestrel.source import KestrelReader
    from ouzel.connectors.reading import LaggingReader, PinnedReader, RecallingSource, SpannedSource
    from ouzel.connectors.redis.source import RedisReader
    from ouzel.connectors.writing import InstantWriter, WithdrawingWriter

ANY_FIELD = "copies or shows the fields of a record of ours, each by its name"
IMPORTED = "a name that a module has, imported when first used"
USERS = "values, functions and classes of the user's, which may have it or not"
LIBRARY = "a library or the machine has it or not"

ASKED = {
    "ouzel/__init__.py": (1, IMPORTED),
    "ouzel/cli/status.py": (1, ANY_FIELD),
    "ouzel/compiler/catalog.py": (1, IMPORTED),
    "ouzel/compiler/code_identity.py": (7, USERS),
    "ouzel/compiler/functions/lowering.py": (1, "a function of NumPy by its name"),
    "ouzel/compiler/functions/python.py": (3, USERS),
    "ouzel/compiler/functions/string.py": (2, "a method of Polars by its name"),
    "ouzel/compiler/raised.py": (1, USERS),
    "ouzel/compiler/records.py": (5, USERS),
    "ouzel/compiler/sql/queries/intervals.py": (1, ANY_FIELD),
    "ouzel/compiler/sql/syntax/shells.py": (2, "trees of Lark, whose leaves are tokens"),
    "ouzel/connectors/loading.py": (1, IMPORTED),
    "ouzel/connectors/file/disk.py": (1, LIBRARY),
    "ouzel/connectors/formats/__init__.py": (1, IMPORTED),
    "ouzel/connectors/formats/widening.py": (1, LIBRARY),
    "ouzel/connectors/kafka/client.py": (1, "errors of a library, of which some have it"),
    "ouzel/dsl/advice.py": (2, USERS),
    "ouzel/dsl/column_functions.py": (1, USERS),
    "ouzel/dsl/functions.py": (5, USERS),
    "ouzel/dsl/inference.py": (3, USERS),
    "ouzel/dsl/shapes.py": (2, USERS),
    "ouzel/dsl/stream.py": (2, USERS),
    "ouzel/dsl/windows.py": (1, USERS),
    "ouzel/planner/meaning.py": (3, ANY_FIELD),
    "ouzel/planner/methods.py": (5, USERS),
    "ouzel/planner/own_state.py": (2, USERS),
    "ouzel/planner/rules/share_equal_plans.py": (1, ANY_FIELD),
    "ouzel/planner/settings.py": (2, ANY_FIELD),
    "ouzel/runtime/cluster/calls.py": (1, "a method of a gRPC stub by its name"),
    "ouzel/runtime/cluster/client.py": (2, ANY_FIELD),
    "ouzel/runtime/observe/counts.py": (1, ANY_FIELD),
    "ouzel/runtime/observe/reports.py": (2, ANY_FIELD),
    "ouzel/runtime/operators/rowwise/rows.py": (1, "types, of which arrays alone have elements"),
    "ouzel/runtime/process/reporter.py": (1, ANY_FIELD),
    "ouzel/runtime/process/job.py": (1, USERS),
    "ouzel/runtime/process/usage.py": (1, LIBRARY),
    "ouzel/runtime/run.py": (1, ANY_FIELD),
    "ouzel/runtime/tasks/factory.py": (1, USERS),
    "ouzel/spark/__init__.py": (1, IMPORTED),
    "ouzel/spark/lowering/python_steps.py": (3, USERS),
    "ouzel/spark/lowering/streaming_nodes.py": (1, ANY_FIELD),
    "ouzel/spark/streaming/__init__.py": (1, IMPORTED),
}
"""By file, how many calls of getattr and hasattr there are, and why."""


def readers(
    files: TextReader, kafka: KafkaReader, kestrel: KestrelReader, redis: RedisReader
) -> tuple[
    tuple[LaggingReader, Backlogged, Measured],
    tuple[LaggingReader, PinnedReader, Measured],
    tuple[LaggingReader, Backlogged],
    LaggingReader,
]:
    """Readers that have more than a Reader must: mypy compares them with what is declared."""
    return (files, files, files), (kafka, kafka, kafka), (kestrel, kestrel), redis


def sources_and_writers(
    files: FileSource, kafka: KafkaSource, written: FileSink, none: Blackhole
) -> tuple[RecallingSource, SpannedSource, WithdrawingWriter, InstantWriter]:
    """The same of sources and writers."""
    return files, kafka, written, none


def test_abilities_are_not_asked_by_name() -> None:
    found = Counter(
        short(path)
        for path in package()
        for node in nodes(path)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr")
    )
    allowed = {path: count for path, (count, _) in ASKED.items()}
    wrong = [
        f"{path}: {found[path]} calls of getattr and hasattr, {allowed.get(path, 0)} in ASKED; declare a protocol and ask isinstance"
        for path in sorted({*found, *allowed})
        if found[path] != allowed.get(path, 0)
    ]
    assert not wrong, listed(wrong)
