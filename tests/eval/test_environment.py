"""The Python that a row of the table is measured in."""

import sys
from importlib import metadata

from eval.environment import python_for


def test_this_python_is_taken_where_it_has_what_a_row_requires():
    pinned = [f"{name}=={metadata.version(name)}" for name in ("torch", "libcst")]
    assert python_for(pinned) == python_for([]) == sys.executable
