"""Classes in Java that the tests bring into Spark's JVM: its compiler of generated code, Janino, takes them, so nothing has to be built."""

from __future__ import annotations

from typing import Any


def compile_java(jvm: Any, source: str) -> Any:
    """The compiler that has taken the source, beside the classes of Spark: it has the bytes, and a class loader.

    Raises:
        Py4JError: they do not fit together.
    """
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.Thread.currentThread().getContextClassLoader())
    compiler.cook(source)
    return compiler
