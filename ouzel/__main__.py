"""`python -m ouzel` is `ouzel`: modules in the working directory, which `-m` puts first on the path, are data and not ours to run."""

import sys
from os import getcwd
from os.path import dirname

if not sys.flags.safe_path and sys.path[0] == getcwd() != dirname(dirname(__file__)):
    del sys.path[0]

from ouzel.cli.main import main

main()
