"""`python -m ouzel` is `ouzel`: modules in the working directory, which `-m` puts first on the path, are data and not ours to run."""

import sys
from contextlib import suppress
from os import getcwd
from os.path import dirname

with suppress(FileNotFoundError):  # the working directory has been removed, and there is nothing in it
    if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] == getcwd() != dirname(dirname(__file__)):
        del sys.path[0]

from ouzel.interrupts import end_at_once


def main() -> None:
    """The console script. What it runs takes a while to import, and Ctrl-C may come meanwhile."""
    end_at_once()
    from ouzel.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
