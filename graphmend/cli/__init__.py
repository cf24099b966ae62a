"""The command line; `main` runs it."""

from graphmend.cli.app import main

__all__ = ["main"]
