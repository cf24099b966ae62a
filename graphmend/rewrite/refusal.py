"""The answer of a rewriter that cannot show its rewrite to be sound."""

from __future__ import annotations


class Refused(Exception):
    """A site stays as it is; the message says why, in words for the report."""
