"""What PySpark asks its JVM again and again, asked once: which members a class has."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JVMView


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
