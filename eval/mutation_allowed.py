"""Checks that no test can need, each with the reason."""

from __future__ import annotations

ALLOWED: dict[str, str] = {}
