"""`python -m ouzel` is `ouzel`."""

from ouzel.cli.main import main

main()
