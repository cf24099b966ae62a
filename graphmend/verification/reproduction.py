"""A folder with a script that shows one difference again, without what the program came from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import decode_source
from pathlib import Path

from graphmend import api, session
from graphmend.findings import Edit
from graphmend.verification import copies
from graphmend.verification.covers import MAIN
from graphmend.verification.processes import run_sides
from graphmend.verification.references import Reference
from graphmend.verification.report import Report, report_on
from graphmend.verification.sides import Side
from graphmend.verification.spec import Spec
from graphmend.version import __version__

_SPEC = "program.json"
_SAVED = "program.pt"
_SCRIPT = '''\
"""{target}: the mended program differs from the original.

{difference}

original/ and mended/ hold the two sources, {program}.
Written by graphmend {version}; needs torch and graphmend, and nothing else of where it was found.
Exits with 1 where the difference shows.
"""

import sys
from pathlib import Path

from graphmend.verification.reproduction import show

if __name__ == "__main__":
    sys.exit(show(Path(__file__).resolve().parent))
'''


def reproduce(spec: Spec, report: Report, original: Side, folder: Path) -> Path:
    """Write the reproduction of the first difference in `report` to `folder`; returns the script.

    A folder that an earlier verification wrote is replaced; FileExistsError for another one.
    """
    _make_room(folder)
    if spec.copies is None:
        copies.write(folder, _copies(spec, report, original))
    else:
        _copy_sides(Path(spec.copies), folder)
    if spec.saved is not None:
        shutil.copy(spec.saved, folder / _SAVED)
    first = report.first_difference
    replace(
        spec,
        target=_as_module(spec.target),
        inputs=_as_module(spec.inputs),
        arms=None if first is None else (first.arm,),
        saved=None,
        copies=None,
        path=(),
    ).save(folder / _SPEC)
    script = folder / "reproduce.py"
    script.write_text(
        _SCRIPT.format(
            target=report.target,
            difference="\n".join(_difference(report)).replace("\\", "\\\\").replace('"""', "'''"),
            program=f"{_SAVED} the callable and its inputs" if spec.saved else "inputs included",
            version=__version__,
        ),
        encoding="utf-8",
    )
    return script


def show(folder: Path) -> int:
    """Run what `reproduce` wrote and print where the sides differ; 1 where they do, else 0."""
    import sys

    spec = Spec.load(folder / _SPEC)
    saved = str(folder / _SAVED) if (folder / _SAVED).exists() else None
    spec = replace(spec, saved=saved, copies=str(folder), path=tuple(sys.path))
    original, mended = run_sides(spec)
    report = report_on(folder.name, original, mended)
    print("\n".join(_difference(report)) or "no difference")
    return 0 if report.equal else 1


def _as_module(reference: str | None) -> str | None:
    """A file that was named is a module among the copies."""
    if reference is None:
        return None
    parsed = Reference.parse(reference)
    return f"{parsed.module}:{parsed.name}"


def _difference(report: Report) -> Iterator[str]:
    first = report.first_difference
    if first is not None:
        yield str(first.arm)
        yield from (f"  {aspect}: {text}" for aspect, text in first.differences.items())
    yield from report.worse


def _make_room(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _SPEC).exists():
            raise FileExistsError(f"{folder} exists and is no reproduction of graphmend")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _copy_sides(source: Path, folder: Path) -> None:
    for name in (copies.ORIGINAL, copies.MENDED):
        if (source / name).exists():
            shutil.copytree(source / name, folder / name)
    shutil.copy(source / copies.MANIFEST, folder)


def _copies(spec: Spec, report: Report, original: Side) -> list[copies.Copy]:
    """The program's own modules, and those that were mended wherever they are."""
    files = dict(original.modules)
    if spec.main is not None:
        files[MAIN] = spec.main
    files |= {module: found[0].path for module, found in report.mended.items() if found}
    with session.use(session.Session()):
        return [
            copies.Copy(name, file, _edits(file, spec) if name in report.mended else ())
            for name, file in sorted(files.items())
        ]


def _edits(file: str, spec: Spec) -> tuple[Edit, ...]:
    """The edits that the import hook made."""
    text = decode_source(Path(file).read_bytes())
    result = api.fix_source(
        text, file, unsafe=spec.unsafe, generated=True, plain=spec.plain, trap=spec.trap
    )
    return result.edits
