"""One side of a verification, in a process that has imported nothing of the program yet."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import graphmend
from graphmend.hook.record import loaded_from_file
from graphmend.verification import covers, sides
from graphmend.verification.apart import apart
from graphmend.verification.arms import plan
from graphmend.verification.copies import MENDED, Finder
from graphmend.verification.owners import parts_of
from graphmend.verification.program import Program, seed
from graphmend.verification.references import TargetError
from graphmend.verification.sides import Side
from graphmend.verification.spec import Spec
from graphmend.verification.targets import load, program_of
from graphmend.verification.verdicts import Failure


def run_side(spec: Spec, side: str, original: Side | None) -> Side:
    """Run everything on one side; `original` is what was found on the other, for the mended one."""
    sys.path[:] = spec.path
    seed()
    _prepare(spec, side, original)
    try:
        _import(spec)
    except TargetError as error:
        return Side(error=str(error))

    def make() -> Program:
        return program_of(spec)

    found = apart(lambda: _described(make(), spec))
    if isinstance(found, Failure):
        return Side(error=found.message.removeprefix("TargetError: "))
    traits = found.traits
    assert traits is not None
    if original is not None:
        found.arms, found.left_out = original.arms, original.left_out
    else:
        found.arms = list(plan(traits, spec.backends) if spec.arms is None else spec.arms)
    references = list(dict.fromkeys(arm.reference for arm in found.arms))
    sides.run_arms(found, make, references, apart)
    if original is None:
        sides.leave_out(found)
    compiled = [arm for arm in found.arms if arm.backend is not None]
    sides.run_arms(found, make, compiled, apart)
    if spec.arms is None:
        sides.count(found, make, found.arms[0].setting, apart)
    return found


def _prepare(spec: Spec, side: str, original: Side | None) -> None:
    """Make imports give the modules of this side, and load the main script if there is one."""
    finder = None
    if spec.copies is not None:
        finder = Finder(Path(spec.copies), side)
        sys.meta_path.insert(0, finder)
    elif side == MENDED:
        names = covers.names(spec, original.parts if original else ())
        graphmend.install(names, unsafe=spec.unsafe, plain=spec.plain, trap=spec.trap)
    if spec.main is None:
        return
    found = finder.find_spec(covers.MAIN, None) if finder else None
    found = found or importlib.util.spec_from_file_location(covers.MAIN, spec.main)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["__main__"] = sys.modules[covers.MAIN] = module
    found.loader.exec_module(module)


def _import(spec: Spec) -> None:
    """Import what the program needs, once for all forks."""
    if spec.saved is not None:
        program_of(spec)
    else:
        load(spec.target or "")
    if spec.inputs is not None:
        load(spec.inputs)


def _described(program: Program, spec: Spec) -> Side:
    """What is known without a call."""
    status = graphmend.status()
    return Side(
        traits=program.traits(),
        parts=parts_of(program.function),
        modules=_own_modules(),
        mended=dict(status.mended),
        refused=dict(status.refused),
        failed=dict(status.failed),
    )


def _own_modules() -> dict[str, str]:
    """The files of imported modules that are no part of an installation."""
    installed = {sys.prefix, sys.base_prefix, str(Path(graphmend.__file__).parent)}
    found = {}
    for name, module in list(sys.modules.items()):
        spec = loaded_from_file(module)
        path = "" if spec is None else os.path.abspath(spec.origin or "")
        if not path.endswith(".py"):
            continue
        inside = any(path.startswith(folder + os.sep) for folder in installed)
        if not inside and name not in ("__main__", "__mp_main__"):
            found[name] = path
    return found
