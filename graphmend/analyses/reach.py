"""Which functions torch.compile may trace, and why.

Entry points are what the module compiles by name, the `forward` of every torch.nn.Module, and,
in a module that compiles nothing itself, functions that compute on the tensors they are given:
a library's user may compile those. What they call is reached too, across modules.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from graphmend.analyses.entry_points import entry_points
from graphmend.analyses.tensor_use import computes_on_tensors
from graphmend.analyses.untraced import drives, never_traced
from graphmend.ir.callers import CallersUnknown, CallSite, Use
from graphmend.ir.hierarchy import UNKNOWN
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.project import Project

_MAX_DEPTH = 4
_MAX_SITES = 60

_known: WeakKeyDictionary[Project, Reach] = WeakKeyDictionary()


def reached(project: Project, module: Module) -> dict[Function, str]:
    """The functions of `module` that torch.compile may trace, each with the reason.

    Looks for callers in other modules for every function that is not reached from within the
    module; where only some functions matter, `reach_reason` asks about one at a time.
    """
    found = {f: reach_reason(project, f) for f in module.functions.values()}
    return {function: reason for function, reason in found.items() if reason is not None}


def reach_reason(project: Project, function: Function) -> str | None:
    """Why torch.compile may trace `function`; None where it does not."""
    reach = _known.get(project)
    if reach is None:
        reach = _known[project] = Reach(project)
    return reach.reason(function)


class Reach:
    """The answers for one project, memoised."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._within: dict[Module, dict[Function, str]] = {}
        self._never: dict[Function, str | None] = {}
        self._answers: dict[Function, str | None] = {}
        self._asked: set[Function] = set()

    def reason(self, function: Function, depth: int = 0) -> str | None:
        """Why `function` may be traced: from its own module, else from callers elsewhere."""
        if function in self._answers:
            return self._answers[function]
        answer = self.within(function.module).get(function)
        if answer is None and self.never(function) is None and function not in self._asked:
            if depth > _MAX_DEPTH:
                return None  # no answer, so none to remember
            self._asked.add(function)
            answer = self._from_callers(function, depth)
            self._asked.discard(function)
        if answer is not None or not self._asked:
            self._answers[function] = answer
        return answer

    def never(self, function: Function) -> str | None:
        """Why the function, or one around it, is never traced."""
        if function not in self._never:
            reason = never_traced(self._project, function)
            if reason is None and function.outer is not None:
                reason = self.never(function.outer)
            self._never[function] = reason
        return self._never[function]

    # -- from within the module ------------------------------------------------------------

    def within(self, module: Module) -> dict[Function, str]:
        """What is reached from the entry points of `module` without leaving it."""
        if module not in self._within:
            self._within[module] = found = self._entries(module)
            self._spread(found, module)
        return self._within[module]

    def _entries(self, module: Module) -> dict[Function, str]:
        explicit = entry_points(self._project, module)
        found = {f: r for f, r in explicit.functions.items() if f.module is module}
        for info in module.classes.values():
            if self._may_be_module(info):
                for name in ("forward", "__call__"):
                    method = info.methods.get(name)
                    if method is not None and self.never(method) is None:
                        found.setdefault(method, f"{name} of a torch.nn.Module")
        if not explicit.used and "torch" in module.source.text:
            for function in module.functions.values():
                if function not in found and self._is_tensor_code(function):
                    found[function] = "computes on tensors"
            self._drop_setup_helpers(found, module)
        return found

    def _may_be_module(self, info: ClassInfo) -> bool:
        if self._project.class_is_module(info):
            return True
        hierarchy = self._project.hierarchy
        bases = [b for b in hierarchy.order(info) if isinstance(b, str)]
        unread = [b for b in bases if b == UNKNOWN or b.rpartition(".")[2].endswith("Module")]
        return bool(unread) and "forward" in info.methods

    def _is_tensor_code(self, function: Function) -> bool:
        if function.outer is not None or self.never(function) is not None:
            return False
        if function.owner is not None and self._may_be_module(function.owner):
            return False
        return drives(function) is None and computes_on_tensors(function)

    def _drop_setup_helpers(self, found: dict[Function, str], module: Module) -> None:
        """Leave out tensor code whose callers in the module are all never traced."""
        callers: dict[Function, set[Function]] = {}
        for function in module.functions.values():
            for target in self._project.graph.edges(function):
                callers.setdefault(target, set()).add(function)
        for function, reason in list(found.items()):
            around = callers.get(function, set()) - {function}
            if reason == "computes on tensors" and around:
                if all(self.never(c) is not None or drives(c) is not None for c in around):
                    del found[function]

    def _spread(self, found: dict[Function, str], module: Module) -> None:
        """Add what the functions in `found` call, as far as it is in the same module."""
        work = list(found)
        while work:
            function = work.pop()
            around = self._project.graph.decorated(function).wrappers
            for target in (*around, *self._project.graph.edges(function)):
                if target.module is module and target not in found:
                    if self.never(target) is None:
                        found[target] = f"called from {function.qualname}"
                        work.append(target)

    # -- from other modules ----------------------------------------------------------------

    def _from_callers(self, function: Function, depth: int) -> str | None:
        if function.outer is not None:
            return self._from_decorator(function, depth)
        sites = self._project.uses.search(function)
        if isinstance(sites, CallersUnknown):
            return None
        for _, site in zip(range(_MAX_SITES), sites, strict=False):
            if site.use is Use.DECORATOR or site.function is None:
                continue
            if self.reason(site.function, depth + 1) is not None:
                return _called_from(site)
        return None

    def _from_decorator(self, function: Function, depth: int) -> str | None:
        """A function inside another one: reached with it, or as a decorator's wrapper."""
        outermost = function
        while outermost.outer is not None:
            outermost = outermost.outer
        if self.reason(outermost, depth + 1) is not None:
            # The function around is reached from elsewhere: so is what it calls.
            return self._spread_from(outermost).get(function)
        sites = self._project.uses.search(outermost)
        if isinstance(sites, CallersUnknown):
            return None
        for _, site in zip(range(_MAX_SITES), sites, strict=False):
            if site.use is Use.DECORATOR and site.function is not None:
                wrappers = self._project.graph.decorated(site.function).wrappers
                if wrappers and self.reason(site.function, depth + 1) is not None:
                    if function in self._closure(wrappers, function.module):
                        return f"wraps {site.function.qualname} in {site.module.name}"
        return None

    def _spread_from(self, function: Function) -> dict[Function, str]:
        return self._closure([function], function.module)

    def _closure(self, functions: Iterable[Function], module: Module) -> dict[Function, str]:
        found = {f: "called" for f in functions}
        self._spread(found, module)
        return found


def _called_from(site: CallSite) -> str:
    name = site.function.qualname if site.function is not None else site.module.name
    return f"called from {name} in {site.module.name}"
