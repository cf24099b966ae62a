"""Tracebacks, warnings and `inspect` show the original file's lines for mended modules."""

from __future__ import annotations

import inspect
import linecache
import logging
import traceback
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import graphmend
from tests.hook.conftest import Write, load
from tests.hook.mender import Mender

MODEL = '''\
"""Docstring."""

from __future__ import annotations

import functools
import logging
import warnings


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Model:
    """A model."""

    @decorated
    @functools.lru_cache(
        maxsize=None
    )
    def forward(self, x):
        """Forward."""
        print("first", x)
        y = [
            x / 1,
            1 / x,
        ]
        print(
            "second",
            1 / (x - 1),
        )
        warnings.warn("careful")
        logging.getLogger("model").warning("noted")
        return y

    def last(self, x):
        if x:
            raise ValueError(
                f"bad {x}"
            )
        print("ok"); z = 1; return z, 1 / x


after = lambda x: (
    1 / x
)
'''


@pytest.fixture
def model(write: Write, fake_mender: Mender) -> ModuleType:
    """MODEL, imported and mended."""
    write({"model.py": MODEL})
    graphmend.install(["model"])
    module = load("model")
    assert len(graphmend.status().mended["model"]) == 3
    return module


def line_of(part: str) -> int:
    """The line of MODEL on which `part` begins."""
    return MODEL[: MODEL.index(part)].count("\n") + 1


def frames(module: ModuleType, call: object) -> list[tuple[str, int, str]]:
    """Function, line and text of the frames in the module's file when `call` raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the caller knows which
        call()
    found = traceback.extract_tb(caught.value.__traceback__)
    return [(f.name, f.lineno, f.line) for f in found if f.filename == module.__file__]


@pytest.mark.semantics("S5", "legal")
def test_the_source_of_functions_and_classes(model: ModuleType) -> None:
    forward = model.Model.forward.__wrapped__.__wrapped__
    start = MODEL.index("    @decorated")
    end = MODEL.index("\n    def last")
    assert inspect.getsource(forward) == MODEL[start:end]
    assert (
        inspect.getsource(model.Model)
        == MODEL[MODEL.index("class Model") : MODEL.index("\n\nafter")]
    )
    assert inspect.getsource(model.Model.last) == MODEL[end + 1 : MODEL.index("\n\nafter")]
    assert inspect.getsource(model.after) == MODEL[MODEL.index("after") :]
    assert inspect.getsource(model) == MODEL
    assert inspect.getsourcefile(model.Model) == model.__file__
    assert model.__doc__ == "Docstring."


def test_the_source_of_an_outlined_function_is_where_its_statement_was(model: ModuleType) -> None:
    helper = next(value for name, value in vars(model).items() if name.startswith("_outlined"))
    lines, first = inspect.getsourcelines(helper)
    assert 'print("first", x)' in "".join(lines)
    assert first <= line_of('print("first"')


@pytest.mark.semantics("S5", "legal")
def test_a_failure_after_the_site_is_at_its_own_line(model: ModuleType) -> None:
    found = frames(model, lambda: model.Model().forward(0))
    assert found == [
        ("wrapper", line_of("return function(*args)"), "return function(*args)"),
        ("forward", line_of("1 / x,"), "1 / x,"),
    ]


@pytest.mark.semantics("S5", "legal")
def test_a_failure_in_a_moved_statement_is_at_the_line_it_was_moved_from(model: ModuleType) -> None:
    found = frames(model, lambda: model.Model().forward(1))
    assert found[1][:2] == ("forward", line_of('print(\n            "second"'))
    assert found[2][1:] == (line_of("1 / (x - 1)"), "1 / (x - 1),")


def test_several_statements_on_one_line(model: ModuleType) -> None:
    place = line_of('print("ok")')
    assert frames(model, lambda: model.Model().last(0)) == [
        ("last", place, 'print("ok"); z = 1; return z, 1 / x')
    ]


def test_multi_line_raise_and_code_after_the_last_site(model: ModuleType) -> None:
    assert frames(model, lambda: model.Model().last(2))[0][1] == line_of("raise ValueError")
    assert frames(model, lambda: model.after(0))[0][1] == line_of("1 / x\n)")


@pytest.mark.semantics("S5", "legal")
def test_the_printed_traceback_is_the_original_one(
    write: Write, fake_mender: Mender, model: ModuleType
) -> None:
    write({"original.py": MODEL})
    original = load("original")
    texts = []
    for module in (model, original):
        for call in (lambda m=module: m.Model().forward(0), lambda m=module: m.after(0)):
            with pytest.raises(ZeroDivisionError) as caught:
                call()
            texts.append("".join(traceback.format_tb(caught.value.__traceback__)[1:]))
    names = (Path(model.__file__).name, "original.py")
    assert [t.replace(names[0], names[1]) for t in texts[:2]] == texts[2:]


@pytest.mark.semantics("S5", "legal")
def test_warnings_and_log_records_carry_the_original_lines(
    model: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.WARNING):
        warnings.simplefilter("always")
        model.Model().forward(3)
    assert (caught[0].filename, caught[0].lineno) == (model.__file__, line_of("warnings.warn("))
    assert caplog.records[0].lineno == line_of('logging.getLogger("model")')


def test_lines_of_functions_are_those_of_the_file(model: ModuleType) -> None:
    code = model.Model.last.__code__
    assert code.co_firstlineno == line_of("def last")
    lines = [line for _, _, line in code.co_lines() if line is not None]
    assert set(lines) <= set(range(line_of("def last"), line_of("after =")))
    assert model.__file__ == code.co_filename
    assert linecache.getlines(code.co_filename) == MODEL.splitlines(keepends=True)


def test_what_python_warns_about_is_said_once_and_of_the_original_line(
    write: Write, fake_mender: Mender
) -> None:
    write({"escapes.py": "def forward(x):\n    print(x)\n\n\nPATTERN = '\\d'\n"})
    graphmend.install(["escapes"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = load("escapes").__file__
    assert [(w.filename, w.lineno) for w in caught] == [(path, 5)]
    assert "invalid escape sequence" in str(caught[0].message)
    assert set(graphmend.status().mended) == {"escapes"}
