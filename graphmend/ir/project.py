"""The modules of one project, parsed when asked for, and what names mean across them.

Nothing of the user's code is imported or run. Every file read is noted in `Project.consulted`,
every file looked for in vain in `Project.missing`, so that a cache can tell when to ask again.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from graphmend.ir import roots
from graphmend.ir.definitions import Definition, Found, Namespace, Value, lookup, namespace
from graphmend.ir.hierarchy import Hierarchy
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.source import Source, SourceError, read_source
from graphmend.ir.texts import Texts

if TYPE_CHECKING:
    from graphmend.ir.callers import Callers, CallersUnknown, CallSite, LocalCall
    from graphmend.ir.callgraph import Callees, CallGraph

__all__ = ["Definition", "Project", "Value"]

_NEVER_PARSED = frozenset({"torch", "torchgen", "functorch", "numpy", "builtins"})

T = TypeVar("T")


class Project:
    """A folder of modules that may import and call each other.

    `root` bounds the search for callers; modules outside it are read only where a question says
    `third_party=True` (base classes, mostly), and torch and the standard library never are.
    """

    def __init__(self, root: Path, path: Path, texts: Texts | None = None) -> None:
        self.root = root
        self.consulted: set[Path] = set()
        self.missing: set[Path] = set()
        self.texts = texts or Texts(root, path)
        self._near = path
        self._modules: dict[Path, Module | None] = {}
        self._paths: dict[tuple[str, tuple[Path, ...]], Path | None] = {}
        self._bases: dict[Path, tuple[Path, ...]] = {}
        self._namespaces: dict[Path, Namespace] = {}
        self._followed: dict[tuple[str, Path | None, bool], Found] = {}
        self._owned: dict[tuple[str, Path | None], bool] = {}
        self._remembered: dict[str, Any] = {}

    def remembered(self, name: str, work: Callable[[], T]) -> T:
        """What `work` gave the first time it was asked for under `name`.

        Analyses keep their answers here, so that they go when the project goes.
        """
        if name not in self._remembered:
            self._remembered[name] = work()
        found: T = self._remembered[name]
        return found

    @classmethod
    def of(cls, path: Path, texts: Texts | None = None) -> Project:
        """The project that the file at `path` belongs to; the file need not exist.

        `texts` are those of another object for the same project, where nothing has changed since.
        """
        path = path.absolute()
        return cls(roots.root_of(path), path, texts)

    # -- modules ---------------------------------------------------------------------------

    def module(
        self, name: str, beside: Module | None = None, *, third_party: bool = False
    ) -> Module | None:
        """The module `name` as `beside` would import it; None where it is not of the project.

        With `third_party`, installed packages other than torch are looked for as well.
        """
        path = self._path(name, self._import_bases(beside))
        if path is not None and self.contains(path):
            return self.module_at(path)
        top = name.partition(".")[0]
        if not third_party or top in _NEVER_PARSED or top in sys.stdlib_module_names:
            return None
        path = path or self._path(name, self._search_path)
        return self.module_at(path) if path is not None else None

    def module_at(self, path: Path) -> Module | None:
        """The module in the file at `path`; None where it cannot be read or parsed."""
        path = path.absolute()
        if path not in self._modules:
            self._modules[path] = self._load(path)
        return self._modules[path]

    def module_of(self, source: Source) -> Module:
        """The module of a text that stands for the file at its path, whatever is on disk.

        `SourceError` where it is not Python.
        """
        module = self._modules.get(source.path.absolute())
        if module is None or module.source.text != source.text:
            module = Module.parse(source, self.name_of(source.path))
            self.adopt(module)
        return module

    def knows_otherwise(self, source: Source) -> bool:
        """Whether another text has been read for the file: answers so far may rest on that."""
        module = self._modules.get(source.path.absolute())
        return module is not None and module.source.text != source.text

    def adopt(self, module: Module) -> None:
        """Let `module` stand for the file at its path, whatever is on disk."""
        path = module.path.absolute()
        self._modules[path] = module
        self.texts.adopt(path, module.source.text.encode("utf-8", "replace"))

    def name_of(self, path: Path) -> str:
        """The dotted name under which the file at `path` is imported."""
        return roots.module_name(path.absolute())

    def contains(self, path: Path) -> bool:
        """Whether the file at `path` is the project's own (not of a package installed in it)."""
        if not path.is_relative_to(self.root):
            return False
        return "site-packages" not in path.relative_to(self.root).parts

    def _load(self, path: Path) -> Module | None:
        try:
            source = read_source(path)
            self.consulted.add(path)
            return Module.parse(source, roots.module_name(path))
        except (SourceError, OSError):
            return None

    @cached_property
    def _search_path(self) -> tuple[Path, ...]:
        return roots.search_path()

    def _import_bases(self, beside: Module | None) -> tuple[Path, ...]:
        path = beside.path.absolute() if beside is not None else self._near
        folder = path.parent
        if folder not in self._bases:
            self._bases[folder] = roots.import_bases(self.root, path)
        return self._bases[folder]

    def _path(self, name: str, bases: tuple[Path, ...]) -> Path | None:
        key = (name, bases)
        if key not in self._paths:
            self._paths[key] = self._find(name, bases)
        return self._paths[key]

    def _find(self, name: str, bases: tuple[Path, ...]) -> Path | None:
        if not name:
            return None
        head, _, rest = name.partition(".")
        if rest and not any((base / head).is_dir() for base in bases):
            return None
        for base in bases:
            for candidate in roots.candidates(name, base):
                if candidate in self._modules or candidate.is_file():
                    return candidate
                self.missing.add(candidate)
        return None

    # -- names -----------------------------------------------------------------------------

    def namespace(self, module: Module) -> Namespace:
        """The imports and assignments at the top level of `module`."""
        if module.path not in self._namespaces:
            self._namespaces[module.path] = namespace(module)
        return self._namespaces[module.path]

    def definition(
        self, qualified: str, beside: Module | None = None, *, third_party: bool = False
    ) -> Definition | None:
        """What the dotted name stands for, through re-exports, aliases and star imports.

        `beside` is the module in which the name is used: it decides between modules of the same
        name. None for names that are not of the project, and for modules themselves.
        """
        found = self.follow(qualified, beside, third_party)
        return None if isinstance(found, str) else found

    def follow(
        self, qualified: str, beside: Module | None, third_party: bool = False, hops: int = 0
    ) -> Found:
        """As `definition`, but gives the dotted name of what lies outside the project.

        None where the name should be of the project and is not found. `hops` counts the
        re-exports followed so far.
        """
        key = (qualified, beside.path.parent if beside is not None else None, third_party)
        if key not in self._followed:
            self._followed[key] = None
            self._followed[key] = self._follow(qualified, beside, third_party, hops)
        return self._followed[key]

    def _follow(self, qualified: str, beside: Module | None, third_party: bool, hops: int) -> Found:
        if beside is not None and not beside.is_package:
            if qualified.startswith(beside.name + "."):
                parts = qualified[len(beside.name) + 1 :].split(".")
                return lookup(self, beside, parts, third_party, hops)
        parts = qualified.split(".")
        if parts[0] in _NEVER_PARSED:
            return qualified
        for cut in range(len(parts) - 1, 0, -1):
            name = ".".join(parts[:cut])
            own = beside is not None and name == beside.name
            module = beside if own else self.module(name, beside, third_party=third_party)
            if module is not None:
                found = lookup(self, module, parts[cut:], third_party, hops)
                # A function may have the name of the submodule that defines it: look once more
                # in the package, unless there is nothing of that name.
                if found is not None or parts[cut - 1] not in self._package_names(module):
                    return found
        return None if self.owns(qualified, beside) else qualified

    def _package_names(self, module: Module) -> set[str]:
        """The names that the package around `module` binds beside its submodules."""
        package = self.module(module.name.rpartition(".")[0], module)
        if package is None:
            return set()
        return set(self.namespace(package).imports) | set(package.functions)

    def owns(self, qualified: str, beside: Module | None = None) -> bool:
        """Whether the dotted name starts with a module or package of the project."""
        top = qualified.partition(".")[0]
        if top in _NEVER_PARSED:
            return False
        if beside is not None and qualified.startswith(beside.name + "."):
            return True
        key = (top, beside.path.parent if beside is not None else None)
        if key not in self._owned:
            bases = self._import_bases(beside)
            self._owned[key] = self.module(top, beside) is not None or any(
                self.contains(base / top / "x") and (base / top).is_dir() for base in bases
            )
        return self._owned[key]

    def resolve(
        self, expression: ast.expr, function: Function | None, module: Module
    ) -> Definition | None:
        """The definition that a name or dotted name in `function` of `module` stands for."""
        qualified = module.qualified(expression, function)
        return self.definition(qualified, module) if qualified is not None else None

    # -- classes and calls -----------------------------------------------------------------

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Base classes, method resolution order and subclasses."""
        return Hierarchy(self)

    @cached_property
    def graph(self) -> CallGraph:
        """Who calls whom."""
        from graphmend.ir.callgraph import CallGraph

        return CallGraph(self)

    def callee(
        self, call: ast.Call, function: Function | None, module: Module | None = None
    ) -> Function | ClassInfo | None:
        """See `CallGraph.callee`."""
        return self.graph.callee(call, function, module)

    def callees(
        self, call: ast.Call, function: Function | None, module: Module | None = None
    ) -> Callees:
        """See `CallGraph.callees`."""
        return self.graph.callees(call, function, module)

    def operator(
        self, call: ast.Call, function: Function | None, module: Module | None = None
    ) -> str | None:
        """See `CallGraph.operator`."""
        return self.graph.operator(call, function, module)

    @cached_property
    def uses(self) -> Callers:
        """The search for callers, for those who want one site after another."""
        from graphmend.ir.callers import Callers

        return Callers(self)

    def callers(self, function: Function) -> list[CallSite] | CallersUnknown:
        """Every place in the project that calls the function or hands it on; see `Callers`."""
        return self.uses.of(function)

    def local_calls(self, function: Function) -> list[LocalCall]:
        """The calls of the function in its own module."""
        return self.uses.local_calls(function)

    def is_cached(self, function: Function) -> bool:
        """Whether a call with arguments seen before runs nothing (`functools.lru_cache`)."""
        return self.graph.decorated(function).cached

    def member(self, owner: ClassInfo, name: str) -> Function | None:
        """The method `name` of the class, its own or inherited."""
        return self.hierarchy.method(owner, name)

    def class_is_module(self, info: ClassInfo) -> bool:
        """Whether the class is known to derive from `torch.nn.Module`."""
        return self.hierarchy.is_nn_module(info)

    # -- text search -----------------------------------------------------------------------

    @property
    def files(self) -> list[Path] | None:
        """Every Python file of the project; None where there are too many to search."""
        return self.texts.files

    def mentioning(self, name: str) -> list[Path] | None:
        """The project's files in which `name` occurs as a whole word; None: cannot tell."""
        return self.texts.mentioning(name)

    def could_import(self, path: Path, name: str) -> bool:
        """Whether the text at `path` may bind or reach `name` of another module."""
        return self.texts.could_import(path, name)

    def text(self, path: Path) -> bytes:
        """The bytes of a file of the project; empty where it cannot be read."""
        return self.texts.of(path)

    @property
    def searched(self) -> bool:
        """Whether an answer so far rests on a search through all files of the project."""
        return self.texts.searched

    def fingerprint(self) -> str:
        """A hash over names, sizes and times of all files of the project (milliseconds)."""
        digest = sha256()
        for path in self.files or ():
            try:
                status = path.stat()
                digest.update(f"{path}:{status.st_size}:{status.st_mtime_ns}\n".encode())
            except OSError:
                digest.update(f"{path}:-\n".encode())
        return digest.hexdigest()
