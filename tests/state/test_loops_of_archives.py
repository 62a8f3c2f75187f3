"""What is compiled on a worker of Spark, which has this package as an archive, is kept for the next one where that can be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from ouzel import loops

USER = "from loops import loop\n\n@loop()\ndef one_more(number):\n    return number + 1\n"


def hits(archive: Path, home: Path) -> str:
    """How often a fresh process found the function compiled."""
    code = f"import sys; sys.path.insert(0, {str(archive)!r}); import user; assert user.one_more(1) == 2; "
    code += "print(sum(user.one_more.stats.cache_hits.values()))"
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return done.stdout.strip()


def test_loops_of_an_archive_are_compiled_once_or_where_nothing_can_be_kept_each_time(tmp_path: Path) -> None:
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.write(loops.__file__, "loops.py")
        out.writestr("user.py", USER)
    again = archive.with_name("another.whl")  # Spark gives it another path in each session, and a driver has the wheel
    shutil.copy(archive, again)
    assert [hits(path, tmp_path / "home") for path in (archive, again)] == ["0", "1"]
    with zipfile.ZipFile(again, "a") as out:
        out.writestr("more.py", "")
    assert hits(again, tmp_path / "home") == "0", "what is compiled of one archive is not another's"
    assert hits(archive, Path("/dev/null")) == "0"
