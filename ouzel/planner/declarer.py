"""What a bolt by hand reads, said one grouping after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ouzel.callers import users_line
from ouzel.planner.elsewhere import advise_of_declarer
from ouzel.planner.methods import check_chooser, check_grouped
from ouzel.planner.topology import DEFAULT_STREAM, Grouping, GroupingKind, Input
from ouzel.planner.wiring import named_component


class BoltDeclarer:
    """Groupings of one component, chained: `.fields_grouping("words", "word")`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Input] = []
        self.places: list[str] = []

    def __repr__(self) -> str:
        reads = ", ".join(f"{one.component} by {one.grouping.kind.value}" for one in self.inputs)
        return f"<bolt {self.name}: {f'reads {reads}' if reads else 'reads nothing yet'}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise AttributeError(advise_of_declarer(name, dir(type(self))))

    def grouping(self, component: str, grouping: Grouping, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """Read a stream with any grouping.

        Raises:
            PlanError: the component is given by something else than its name.
        """
        named = named_component(f"{grouping.kind.value.replace('-', '_')}_grouping", component)
        self.inputs.append(Input(named, grouping, stream))
        self.places.append(users_line())
        return self

    def fields_grouping(self, component: str, *names: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """Rows with equal values of these columns go to one task.

        Raises:
            PlanError: there are none, or one of them is no name.
        """
        check_grouped("fields_grouping", component, names)
        return self.grouping(component, Grouping(GroupingKind.FIELDS, names), stream)

    def partial_key_grouping(self, component: str, *names: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """Rows of one key go to one of two tasks, the less loaded (Nasir et al., "The Power of Both Choices", ICDE 2015).

        Raises:
            PlanError: there are none, or one of them is no name.
        """
        check_grouped("partial_key_grouping", component, names)
        return self.grouping(component, Grouping(GroupingKind.PARTIAL_KEY, names), stream)

    def shuffle_grouping(self, component: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """Whole batches in turn."""
        return self.grouping(component, Grouping(GroupingKind.SHUFFLE), stream)

    def local_or_shuffle_grouping(self, component: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """Tasks of the same container, if there are any; else as shuffle."""
        return self.grouping(component, Grouping(GroupingKind.LOCAL_OR_SHUFFLE), stream)

    def all_grouping(self, component: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """Every task gets every row."""
        return self.grouping(component, Grouping(GroupingKind.ALL), stream)

    def global_grouping(self, component: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """Everything goes to the task with the lowest id."""
        return self.grouping(component, Grouping(GroupingKind.GLOBAL), stream)

    def none_grouping(self, component: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """The writer does not care; as shuffle."""
        return self.grouping(component, Grouping(GroupingKind.NONE), stream)

    def direct_grouping(self, component: str, stream: str = DEFAULT_STREAM) -> BoltDeclarer:
        """The writer names the task in each emit."""
        return self.grouping(component, Grouping(GroupingKind.DIRECT), stream)

    def custom_grouping(
        self, component: str, chooser: Callable[..., Any], stream: str = DEFAULT_STREAM
    ) -> BoltDeclarer:
        """`chooser(frame, tasks)` gives each row's task index, from 0 to below `tasks`.

        Raises:
            PlanError: it is no function, or takes other arguments.
        """
        check_chooser(self.name, component, chooser)
        return self.grouping(component, Grouping(GroupingKind.CUSTOM, chooser=chooser), stream)
