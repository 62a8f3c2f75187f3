"""Whether what a builder was given is a topology: components with names of their own, each of which reads what another one emits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ouzel.errors import PlanError
from ouzel.planner.topology import Component, Input, Resources


@dataclass(frozen=True)
class SetComponent:
    """A component, the user's line that set it, those that said what it reads, one for each input, and whether it is a bolt."""

    component: Component
    place: str
    reads: tuple[str, ...]
    is_bolt: bool


def check_part(name: object, parallelism: object, resources: object, verb: str) -> None:
    """See that a component's name is a text, and that it can have so many tasks and such resources.

    Raises:
        PlanError: they are not.
    """
    if not isinstance(name, str) or not name.strip():
        raise PlanError(
            f"{verb} takes the name of a component first, a text, not {name!r:.60}; write {verb}('words', …)"
        )
    if isinstance(parallelism, bool) or not isinstance(parallelism, int) or parallelism < 1:
        raise PlanError(f"'{name}' cannot have a parallelism of {parallelism!r:.60}; write a whole number, 1 or more")
    if not isinstance(resources, Resources):
        shown = (
            ", ".join(f"{key}={value}" for key, value in resources.items())
            if isinstance(resources, Mapping)
            else "cpu=2.0"
        )
        raise PlanError(f"the resources of '{name}' are {resources!r:.60}; write resources=ouzel.Resources({shown})")
    _check_resources(name, resources)


def _check_resources(name: str, asked: Resources) -> None:
    for field, value in (("cpu", asked.cpu), ("ram_mb", asked.ram_mb)):
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise PlanError(f"'{name}' asks for {field}={value!r:.60}; write a number above 0")


def check_wiring(found: Sequence[SetComponent]) -> None:
    """See that the components are a topology.

    Raises:
        PlanError: two share a name, one reads what is not there, nothing begins it, or one reads what comes of itself.
    """
    by_name: dict[str, SetComponent] = {}
    for one in found:
        name = one.component.name
        if name in by_name:
            raise PlanError(
                f"two components are called '{name}' (at {by_name[name].place} and {one.place}); give each a name of its own"
            )
        by_name[name] = one
    for one in found:
        for link, place in zip(one.component.inputs, one.reads, strict=True):
            _check_input(one.component.name, link, place, by_name)
    _check_begun(found)
    _check_no_loop({name: one.component for name, one in by_name.items()})


def _check_input(reader: str, link: Input, place: str, by_name: Mapping[str, SetComponent]) -> None:
    if link.component not in by_name:
        near = get_close_matches(link.component, list(by_name), 1)
        advice = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(by_name)}"
        raise PlanError(f"'{reader}' reads '{link.component}' (at {place}), and there is no such component; {advice}")
    written = {output.stream: output.schema.names for output in by_name[link.component].component.outputs}
    if link.stream not in written:
        instead = "declare it in outputs"
        if any(link.stream in names for names in written.values()):
            instead = f"for a column write fields_grouping({link.component!r}, {link.stream!r})"
        elif written:
            instead += f"; it writes {', '.join(written)}"
        raise PlanError(
            f"'{reader}' reads stream '{link.stream}' of '{link.component}' (at {place}), which nobody writes; {instead}"
        )
    lacking = next((name for name in link.grouping.fields if name not in written[link.stream]), None)
    if lacking is not None:
        near = get_close_matches(lacking, written[link.stream], 1)
        advice = f"did you mean '{near[0]}'?" if near else f"it emits {', '.join(written[link.stream])}"
        raise PlanError(
            f"'{reader}' groups '{link.component}' by '{lacking}' (at {place}), which it does not emit; {advice}"
        )


def _check_begun(found: Sequence[SetComponent]) -> None:
    if not found:
        raise PlanError("nothing is set in this topology; write builder.set_spout(name, spout, ouzel.schema(word=str))")
    names = [one.component.name for one in found]
    for one in found:
        if one.component.is_spout and one.is_bolt:
            raise PlanError(
                f"bolt '{one.component.name}' (at {one.place}) reads nothing; "
                f"write set_bolt('{one.component.name}', …).shuffle_grouping({names[0]!r})"
            )
    if not any(one.component.is_spout for one in found):
        raise PlanError(
            f"no spout brings batches in, and {', '.join(names)} wait for each other; "
            "write builder.set_spout(name, spout, ouzel.schema(word=str))"
        )


def _check_no_loop(components: Mapping[str, Component]) -> None:
    done = set[str]()
    for name in components:
        loop = next(_loops(name, components, [], done), None)
        if loop is not None:
            raise PlanError(
                f"'{loop[0]}' reads what comes of itself, {' → '.join(loop)}, so that its input never ends; "
                "leave one of these groupings out, or do again inside the bolt what it sent back"
            )


def _loops(name: str, components: Mapping[str, Component], path: list[str], done: set[str]) -> Iterator[list[str]]:
    """Ways along which rows come back to where they were, in the order in which they go."""
    if name in path:
        yield [*path[path.index(name) :], name][::-1]
        return
    if name not in done:
        for link in components[name].inputs:
            yield from _loops(link.component, components, [*path, name], done)
        done.add(name)


def named_component(verb: str, given: Any) -> str:
    """The name of what a bolt reads.

    Raises:
        PlanError: it is none; says what to write.
    """
    if isinstance(given, str):
        return given
    raise PlanError(
        f"{verb} takes the name that set_spout or set_bolt was given, a text, and {given!r:.60} is none; write {verb}('words')"
    )
