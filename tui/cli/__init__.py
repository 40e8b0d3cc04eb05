"""`kdrill` on the command line, one module a command. Results go to standard output, the rest to standard error."""

from tui.cli.main import main

__all__ = ["main"]
