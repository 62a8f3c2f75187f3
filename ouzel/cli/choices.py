"""The choices of the command line, and options that several commands share."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import PurePath
from typing import Annotated

import typer

from ouzel.planner.settings import Delivery

Set = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="A setting, as SET 'key' = 'value' in the query; wins over it."),
]
Master = Annotated[str | None, typer.Option(metavar="URL", help="Where Spark runs.  [default: this machine, local[*]]")]
Conf = Annotated[
    list[str], typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark, spark.executor.memory=4g say.")
]
DeliveryOption = Annotated[
    Delivery | None, typer.Option(help="What is promised about each input row.  [default: at-least-once]")
]
Parallelism = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Tasks of each component that no hint speaks of.  [default: 1]")
]
FromSavepoint = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="DIR",
        help="Go on from the savepoint that `ouzel stop NAME --savepoint DIR` has made: a folder, or s3://bucket/prefix.",
        show_default=False,
    ),
]
AllowStateLoss = Annotated[
    bool,
    typer.Option(
        "--allow-state-loss",
        help="Go on although a part of the query means something else now: that part begins without state. Others keep theirs.",
    ),
]
TopologyName = Annotated[str, typer.Argument(metavar="NAME", help="By which it was submitted; `ouzel list` shows all.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the stack trace of an error.")]
PartName = Annotated[
    str,
    typer.Argument(
        metavar="PART", help="A component, a task as counts[0], or a container as container-1.", show_default=False
    ),
]


def pairs(texts: list[str], option: str) -> list[tuple[str, str]]:
    """Each KEY=VALUE that was given with `option`, taken apart.

    Raises:
        typer.BadParameter: one has no '='.
    """
    made = []
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"'{text}' has no '='; write {option} key=value", param_hint=option)
        made.append((key.strip(), value.strip()))
    return made


class Engine(Enum):
    """What runs a query as a stream."""

    HERON = "heron"
    MEMORY = "memory"
    SPARK = "spark"


class ResultFormat(Enum):
    """How the result of a trailing SELECT is printed."""

    TABLE = "table"
    VERTICAL = "vertical"
    JSONL = "jsonl"
    CSV = "csv"
    CHANGELOG = "changelog"


def refuse_output(value: str | None) -> None:
    """Say what is written for `--output csv` and `--output out.csv` of other tools.

    Raises:
        typer.BadParameter: it is there.
    """
    if value is None:
        return
    ending = PurePath(value).suffix.removeprefix(".").lower()
    form = ending or value.lower()
    form = {"json": "jsonl", "ndjson": "jsonl"}.get(form, form)
    if form not in [choice.value for choice in ResultFormat]:
        form = "csv"
    place = f" > {shlex.quote(value)}" if ending else ""
    raise typer.BadParameter(f"the result goes to stdout; write --format {form}{place}")


NoOutput = Annotated[str | None, typer.Option("--output", hidden=True, callback=refuse_output)]
