"""The option that says in which form a command reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def form_option(help_text: str) -> Callable[[Command], Command]:
    """`--format text|json`, handed to the command as `form`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=help_text,
    )
