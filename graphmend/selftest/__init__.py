"""The catalogue's own cases, run under the user's torch."""
