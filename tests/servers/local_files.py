"""Local files as Spark's JVM sees them through Hadoop, without a process of `chmod` for each file and folder that it makes."""

from __future__ import annotations

from typing import Any

from tests.servers.janino import compile_java

SOURCE = """
package ouzel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

public class LocalFiles extends LocalFileSystem {
    public LocalFiles() { super(new Raw()); }

    public static class Raw extends RawLocalFileSystem {
        public void setPermission(Path path, FsPermission set) throws IOException {
            String letters = set.getUserAction().SYMBOL + set.getGroupAction().SYMBOL + set.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(letters));
        }
    }
}
"""
"""Hadoop's own, which calls `chmod` where its native library is not there."""

NAME = "ouzel.LocalFiles"


def use_light_files(session: Any) -> None:
    """Have all of the session's JVM read and write local files so: the checkpoint of a stream is many."""
    jvm = session._jvm
    ours = jvm.org.apache.hadoop.conf.Configuration(session._jsc.hadoopConfiguration())
    ours.setClassLoader(compile_java(jvm, SOURCE).getClassLoader())
    ours.set("fs.file.impl", NAME)
    files = jvm.org.apache.hadoop.fs.FileSystem
    files.closeAll()
    made = files.get(jvm.java.net.URI("file:///"), ours)  # it is kept for whoever asks next
    assert made.getClass().getName() == NAME
