"""Digests of the code that a process really runs, package by package.

They tell a mend that did something from one that silently did nothing, whatever the mender
itself reports.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType


def code_digests(packages: tuple[str, ...]) -> dict[str, str]:
    """A digest of all functions and methods of every loaded module of `packages`, by module.

    Line numbers and file names are left out. Needs a fixed PYTHONHASHSEED to compare processes.
    """
    digests = {}
    for name, module in sorted(sys.modules.items()):
        if isinstance(module, ModuleType) and _is_of(name, packages):
            codes = sorted(_digest(code) for code in _codes(vars(module), name))
            digests[name] = hashlib.sha256("".join(codes).encode()).hexdigest()[:16]
    return digests


def _is_of(module: str, packages: tuple[str, ...]) -> bool:
    """Whether a module is one of `packages`, which may be modules, or lies in one."""
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


def _codes(namespace: dict[str, object], module: str) -> Iterator[CodeType]:
    for value in list(namespace.values()):
        if isinstance(value, type):
            if value.__module__ == module:
                yield from _codes(dict(vars(value)), module)
        elif isinstance(value, property):
            getters = (value.fget, value.fset, value.fdel)
            yield from _codes({str(i): f for i, f in enumerate(getters)}, module)
        else:
            function = _unwrapped(value)
            if isinstance(function, FunctionType) and function.__module__ == module:
                yield function.__code__


def _unwrapped(value: object) -> object:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, FunctionType):
        return inspect.unwrap(value)
    return value


def _digest(code: CodeType) -> str:
    parts = [code.co_qualname, code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)]
    parts += [_digest(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
