"""What is there of a source and hardly meant: fields of its records that nothing in its files has, which read None in silence."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from ouzel.callers import users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.records import Form
from ouzel.connectors import CONNECTORS, load_function
from ouzel.connectors.options import list_options
from ouzel.dsl.advice import spelled_in_python
from ouzel.dsl.inference import may_be_none
from ouzel.dsl.producers import Producer, TableRead, entire_graph
from ouzel.errors import QueryError


def warn_of_suspects(end: Producer) -> None:
    """Warn of them, of each source that a stream comes of."""
    for place, told in _find_suspects(end):
        warnings.warn(f"the source at {place}: {told}", QueryWarning, stacklevel=users_level())


def find_suspect(end: Producer) -> QueryError | None:
    """The first of them as an error: why a function is given nothing but None. None if there is none."""
    place, told = next(_find_suspects(end), ("", ""))
    return QueryError(f"reads a source that gives None (at {place}): {told}") if told else None


def _find_suspects(end: Producer) -> Iterator[tuple[str, str]]:
    for one in entire_graph(end):
        if isinstance(one, TableRead):
            for told in _look_at(one):
                yield one.place, told


def _look_at(read: TableRead) -> Iterable[str]:
    """A sentence for each field that is lacking, unless it may be None and no other is called alike."""
    reads = CONNECTORS[read.table.traits.name].reads
    if reads is None or not reads.suspects:
        return
    options = dict(read.table.options)
    names = read.table.columns or read.record.schema.names
    optional = [name for name, hint in zip(names, read.record.hints, strict=True) if may_be_none(hint)]
    told = load_function(read.table.traits.name, reads.suspects)(options, names, Path.cwd())
    spelled = [one.name for one in list_options(CONNECTORS[read.table.traits.name], options)]
    for note in told:
        if "did you mean" in note or not any(f" has a field {name};" in note for name in optional):
            in_a_tuple = read.record.form is Form.TUPLE and not read.table.columns
            named = "; give a tuple's fields names, columns=['a', 'b'], or take a NamedTuple" if in_a_tuple else ""
            yield spelled_in_python(QueryError(note), spelled).problem + named
