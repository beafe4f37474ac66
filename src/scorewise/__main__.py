"""Run the command line as `python -m scorewise`."""

from scorewise.cli import main

main()
