"""The instructions of a code object itself, which hold the code of the functions inside it.

Code objects of two files may be equal, and TorchDynamo then takes the instructions of the first for
both. A selection makes functions where the program had none: those of another file would bring
what was compiled for it, and with it the helpers of that file.
"""

import functools
import inspect
import types
from typing import Any

from torch._dynamo import bytecode_transformation

cleaned_by_equality = bytecode_transformation._cached_cleaned_instructions


class _Same:
    """A code object that is equal to itself only."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.code is other.code

    def __hash__(self) -> int:
        return id(self.code)


def cleaned(code: types.CodeType, safe: bool = False) -> Any:
    """What TorchDynamo's own function gives for `code`, kept by identity."""
    return _cleaned(_Same(code), safe)


@functools.lru_cache
def _cleaned(code: _Same, safe: bool) -> Any:
    return inspect.unwrap(cleaned_by_equality)(code.code, safe)
