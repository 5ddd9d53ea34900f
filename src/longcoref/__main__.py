"""`python -m longcoref`: the command line."""

from longcoref.cli import main

main()
