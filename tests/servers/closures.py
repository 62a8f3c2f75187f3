"""Spark's closures in the tests' session, each checked once: for each step of a job Spark reads and parses a class file from its jars."""

from __future__ import annotations

from typing import Any
from warnings import warn

from py4j.java_gateway import get_field
from py4j.protocol import Py4JError

from tests.servers.janino import compile_java

NAME = "org.apache.spark.util.SparkClosureCleaner$"
BESIDE = "org.apache.spark.util.ClosureCleaner"

SOURCE = """
package org.apache.spark.util;

public final class SparkClosureCleaner$ {
    public static final SparkClosureCleaner$ MODULE$ = new SparkClosureCleaner$();
    private final java.util.Set clean = java.util.concurrent.ConcurrentHashMap.newKeySet();

    public Object clean(Object closure, boolean checkSerializable, boolean cleanTransitively) {
        if (clean.contains(closure.getClass())) return closure;
        scala.collection.mutable.Map fields = (scala.collection.mutable.Map) scala.collection.mutable.Map$.MODULE$.empty();
        scala.Option cleaned = ClosureCleaner$.MODULE$.clean(closure, cleanTransitively, fields);
        if (cleaned.isDefined() && cleaned.get() != closure) return cleaned.get();
        clean.add(closure.getClass());
        return closure;
    }

    public boolean clean$default$2() { return true; }
    public boolean clean$default$3() { return true; }
}
"""
"""A lambda's class is its place in the code, and there Spark looks: for a `return`, and for a line typed into its shell.

Whether what it holds can be serialised is seen when its stage is sent.
"""


def check_closures_once(session: Any) -> None:
    """Have the JVM of a new session do so, or go on as it is where Spark's version has other such classes."""
    try:
        known = _define(session._jvm)
    except Py4JError:
        known = False
    if not known:
        warn("Spark's SparkClosureCleaner is another than tests know: they take a tenth longer", stacklevel=2)


def _define(jvm: Any) -> bool:
    """Compile ours and define it beside Spark's classes, whose own has not been loaded: no job has run. False if it is another."""
    theirs = jvm.Thread.currentThread().getContextClassLoader().getResourceAsStream(NAME.replace(".", "/") + ".class")
    if theirs is None:
        return False
    ours = compile_java(jvm, SOURCE).getBytecodes()[NAME]
    if _methods(jvm, theirs.readAllBytes()) != _methods(jvm, ours):
        return False
    lookup = jvm.java.lang.invoke.MethodHandles.lookup()
    package = jvm.java.lang.invoke.MethodHandles.privateLookupIn(jvm.Class.forName(BESIDE), lookup)
    package.defineClass(ours)
    return True


def _methods(jvm: Any, code: bytes) -> set[tuple[str, str]]:
    """Names and types of a class's methods."""
    read = jvm.org.codehaus.janino.util.ClassFile(jvm.java.io.ByteArrayInputStream(code))
    return {(method.getName(), method.getDescriptor()) for method in get_field(read, "methodInfos")}
