"""Measurements of graphmend on real models. Run from a checkout: `python -m eval table2`."""
