"""Fewer requests of PySpark to its JVM: half of those that make a DataFrame ask which members a class has, or let go what one has made."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from py4j.clientserver import JavaClient
from py4j.java_collections import ListConverter
from py4j.java_gateway import JavaClass, JavaMember, JVMView
from py4j.protocol import Py4JError

FORGOTTEN_AT_ONCE = 1_000
"""So many objects of the JVM that Python has let go are let go there at once."""

SHORT = 10
"""Java makes a list of up to so many by one call."""


def remember_members() -> None:
    """Classes and their methods are looked up once a process: else each function of a column asks for both, through all jars."""
    _remember(JVMView, (JavaClass,))
    _remember(JavaClass, (JavaClass, JavaMember))


def _remember(kind: Any, constant: tuple[type, ...]) -> None:
    ask = kind.__getattr__
    known: dict[tuple[object, ...], Any] = {}

    def get(self: Any, name: str) -> Any:
        owner = vars(self)
        key = (owner.get("_gateway_client"), owner.get("_fqn"), name)
        if key not in known:
            answer = ask(self, name)
            if not isinstance(answer, constant):  # a field, whose value may change, or a package
                return answer
            known[key] = answer
        return known[key]

    kind.__getattr__ = get


def forget_many_at_once(session: Any) -> None:
    """Have the JVM let go by the thousand what Python has let go: else each column that was ever named is a request more."""
    jvm, client = session._jvm, session.sparkContext._gateway._gateway_client
    kept = session.sparkContext._gateway.java_gateway_server.getGateway().getBindings().keySet()
    to_set, enqueue = jvm.java.util.stream.Collectors.toSet, JavaClient.garbage_collect_object
    waiting: list[str] = []

    def forget(self: Any, target: str, later: bool = True) -> None:
        if later or self is not client or not target.startswith("o"):  # others are never let go
            enqueue(self, target, later)
            return
        waiting.append(target)  # one thread does this
        if len(waiting) < FORGOTTEN_AT_ONCE:
            return
        names = " ".join(waiting)
        waiting.clear()
        with suppress(Py4JError):  # the JVM has ended
            kept.removeAll(jvm.java.util.regex.Pattern.compile(" ").splitAsStream(names).collect(to_set()))

    JavaClient.garbage_collect_object = forget


def make_short_lists() -> None:
    """Lists of a few, of which each call for columns has one, are made by one request, and not by one for each element."""
    make = ListConverter.convert

    def convert(self: Any, items: Any, client: Any) -> Any:
        given = list(items)
        if not 0 < len(given) <= SHORT or any(item is None for item in given):
            return make(self, given, client)
        return JavaClass("java.util.List", client).of(*given)

    ListConverter.convert = convert
