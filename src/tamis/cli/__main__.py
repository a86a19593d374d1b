"""`python -m tamis.cli`, the same as the `tamis` command."""

from tamis.cli import main

main()
