"""Which functions torch.compile may trace, and why.

Entry points are what the module compiles by name, the `forward` of every torch.nn.Module, and,
in a module that compiles nothing itself, functions that compute on the tensors they are given:
a library's user may compile those. What they call is reached too, across modules.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from graphmend.analyses.entry_points import EntryPoints, entry_points
from graphmend.analyses.tensor_use import arguments_handed_on, computes_on_tensors
from graphmend.analyses.untraced import drives, never_traced
from graphmend.ir.callers import CallersUnknown, CallSite, Use
from graphmend.ir.hierarchy import UNKNOWN
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.project import Project

_FORWARD = "forward of a torch.nn.Module"
_COMPUTES = "computes on tensors"
_MAX_DEPTH = 3
_MAX_SEARCHES = 5  # for the callers of callers, an answer
_MAX_FILES = 5  # looked into, a search
_MAX_SITES = 40

_BREAKING_CALLS = frozenset(
    """print log debug info error exception critical item tolist nonzero unique masked_select
    repeat_interleave int float bool""".split()
)


def reached(
    project: Project, module: Module, wanted: Callable[[Function], bool] | None = None
) -> dict[Function, str]:
    """The functions of `module` that torch.compile may trace, each with the reason.

    For functions that are not reached from within the module, callers in other modules are
    looked for, which takes time: only where `wanted` says so, by default where the function
    holds a construct that may break a graph (`may_hold_site`).
    """
    wanted = wanted or may_hold_site
    reach = _reach(project)
    found = dict(reach.within(module))
    for function in module.functions.values():
        if function not in found and reach.never(function) is None and wanted(function):
            reason = reach.reason(function)
            if reason is not None:
                found[function] = reason
    found.update(reach.found(module))
    return {f: found[f] for f in module.functions.values() if f in found}


def may_hold_site(function: Function) -> bool:
    """Whether the body holds a raise, an assert, a loop or branch on a computed value, output,
    or a read of tensor data; errs on the side of yes."""
    return any(_may_break(node) for node in function.nodes)


def _may_break(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Raise() | ast.While():
            return True
        case ast.If(test=test) | ast.IfExp(test=test):
            return not _is_static_test(test)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in _BREAKING_CALLS or name.startswith("warn")
    return False


def _is_static_test(test: ast.expr) -> bool:
    """`x`, `not x`, `x is None`, `isinstance(..)` and the like, on names and attributes."""
    match test:
        case ast.UnaryOp(operand=operand):
            return _is_static_test(operand)
        case ast.BoolOp(values=values):
            return all(map(_is_static_test, values))
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.Attribute():
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr" | "callable")):
            return True
    return False


def reach_reason(project: Project, function: Function) -> str | None:
    """Why torch.compile may trace `function`; None where it does not."""
    return _reach(project).reason(function)


def may_be_traced(project: Project, function: Function) -> bool:
    """Whether torch.compile might trace `function` although no reason to think so is known.

    False for functions that are never traced, for programs around models, and in modules that
    name what they compile.
    """
    return _reach(project).may_be_traced(function)


def _reach(project: Project) -> Reach:
    return project.remembered("reach", lambda: Reach(project))


class Reach:
    """The answers for one project, memoised."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._within: dict[Module, dict[Function, str]] = {}
        self._never: dict[Function, str | None] = {}
        self._answers: dict[Function, str | None] = {}
        self._tensor_code: dict[Function, bool] = {}
        self._entry_points: dict[Module, EntryPoints] = {}
        self._free: dict[Function, str] = {}
        self._driving: dict[Function, str | None] = {}
        self._asked: set[Function] = set()
        self._searches = 0
        self._cut = False

    def reason(self, function: Function, depth: int = 0) -> str | None:
        """Why `function` may be traced: from its own module, else from callers elsewhere."""
        if function in self._answers:
            return self._answers[function]
        if depth and self._is_forward(function):  # without a look at the rest of its module
            return _FORWARD
        answer = self.within(function.module).get(function)
        if not self._asked:
            self._searches, self._cut = 0, False
        if answer is None and self.never(function) is None:
            if depth > _MAX_DEPTH or function in self._asked or self._searches > _MAX_SEARCHES:
                self._cut = True  # what rests on this is no answer to remember
                return None
            self._searches += 1
            self._asked.add(function)
            answer = self._from_callers(function, depth)
            self._asked.discard(function)
        if answer is not None or not self._asked or not self._cut:
            self._answers[function] = answer
        return answer

    def may_be_traced(self, function: Function) -> bool:
        """Whether nothing speaks against it: weaker than `reason`, for questions of safety."""
        if function in self.within(function.module):
            return True
        if self.never(function) is not None or self._drives(function) is not None:
            return False
        if self._explicit(function.module).used:
            return self.reason(function) is not None
        return True

    def found(self, module: Module) -> dict[Function, str]:
        """The functions of `module` that questions so far have found to be reached."""
        return {f: r for f, r in self._answers.items() if f.module is module and r is not None}

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
            if not self._explicit(module).used and "torch" in module.source.text:
                free = self._free_entries(module, found)
                self._spread(free, module, found)
                self._free.update(free)
                found.update(free)
        return self._within[module]

    def _entries(self, module: Module) -> dict[Function, str]:
        """What the module compiles by name and the `forward` of its modules."""
        explicit = self._explicit(module)
        found = {f: r for f, r in explicit.functions.items() if f.module is module}
        for info in module.classes.values():
            if self._may_be_module(info):
                for name in ("forward", "__call__"):
                    method = info.methods.get(name)
                    if method is not None and self.never(method) is None:
                        found.setdefault(method, _FORWARD)
        return found

    def _free_entries(self, module: Module, known: dict[Function, str]) -> dict[Function, str]:
        """Tensor code that a user may compile by itself, beside what is `known` to be traced."""
        found = {
            function: _COMPUTES
            for function in module.functions.values()
            if function not in known and self._is_tensor_code(function)
        }
        self._drop_setup_helpers(found)
        self._add_handing_on(found, module)
        return {f: r for f, r in found.items() if f not in known}

    def _is_forward(self, function: Function) -> bool:
        if function.owner is None or function.name != "forward":
            return False
        return self.never(function) is None and self._may_be_module(function.owner)

    def _explicit(self, module: Module) -> EntryPoints:
        if module not in self._entry_points:
            self._entry_points[module] = entry_points(self._project, module)
        return self._entry_points[module]

    def _may_be_module(self, info: ClassInfo) -> bool:
        if self._project.class_is_module(info):
            return True
        hierarchy = self._project.hierarchy
        bases = [b for b in hierarchy.order(info) if isinstance(b, str)]
        unread = [b for b in bases if b == UNKNOWN or b.rpartition(".")[2].endswith("Module")]
        return bool(unread) and "forward" in info.methods

    def _is_tensor_code(self, function: Function) -> bool:
        if function not in self._tensor_code:
            wrappers = self._project.graph.decorated(function).wrappers
            self._tensor_code[function] = self._is_free(function) and any(
                map(computes_on_tensors, [function, *_own_helpers(function), *wrappers])
            )
        return self._tensor_code[function]

    def _is_free(self, function: Function) -> bool:
        """Whether a user may compile the function by itself."""
        if function.outer is not None or self.never(function) is not None:
            return False
        owner = function.owner
        if owner is not None and (self._may_be_module(owner) or self._is_driver(owner)):
            return False
        return self._drives(function) is None

    def _drives(self, function: Function) -> str | None:
        if function not in self._driving:
            self._driving[function] = drives(function)
        return self._driving[function]

    def _is_driver(self, info: ClassInfo) -> bool:
        """Whether methods of the class run a model from outside: the others serve them."""
        return any(self._drives(method) for method in info.methods.values())

    def _add_handing_on(self, found: dict[Function, str], module: Module) -> None:
        """Add functions that compute nothing but hand their arguments to tensor code."""
        rest = [f for f in module.functions.values() if f not in found and self._is_free(f)]
        added = True
        while added:
            added = False
            for function in rest:
                if function not in found and self._hands_on(function, found):
                    found[function] = "hands its arguments to tensor code"
                    added = True

    def _hands_on(self, function: Function, found: dict[Function, str]) -> bool:
        for call in arguments_handed_on(function):
            for target in self._project.graph.callees(call, function).functions:
                if isinstance(target, Function):
                    handing = found.get(target, "").startswith("hands")
                    if handing or self._is_tensor_code(target):
                        return True
        return False

    def _drop_setup_helpers(self, found: dict[Function, str]) -> None:
        """Leave out tensor code whose callers in the module are all never traced."""
        for function in list(found):
            calls = self._project.local_calls(function)
            around = {c.function for c in calls if c.function is not None} - {function}
            if around and all(map(self._is_outside, around)):
                del found[function]
                self._tensor_code[function] = False

    def _is_outside(self, function: Function) -> bool:
        """Whether the function is never traced or runs a model from outside."""
        if self.never(function) is not None or self._drives(function) is not None:
            return True
        owner = function.owner
        return owner is not None and not self._may_be_module(owner) and self._is_driver(owner)

    def _spread(
        self, found: dict[Function, str], module: Module, known: Iterable[Function] = ()
    ) -> None:
        """Add what the functions in `found` call, as far as it is in the same module and not
        `known` already."""
        work = list(found)
        while work:
            function = work.pop()
            around = self._project.graph.decorated(function).wrappers
            for target in (*around, *self._project.graph.edges(function)):
                if target.module is module and target not in found and target not in known:
                    if self.never(target) is None:
                        found[target] = f"called from {function.qualname}"
                        work.append(target)

    # -- from other modules ----------------------------------------------------------------

    def _from_callers(self, function: Function, depth: int) -> str | None:
        if function.outer is not None:
            return self._from_decorator(function, depth)
        sites = self._project.uses.search(function, _MAX_FILES)
        if isinstance(sites, CallersUnknown):
            return None
        for _, site in zip(range(_MAX_SITES), sites, strict=False):
            if site.use in (Use.DECORATOR, Use.MAYBE) or site.function is None:
                continue
            if self._carries(site.function, site.call, depth):
                self._note_free(function, site.function)
                return _called_from(site)
        return None

    def _carries(self, caller: Function, call: ast.expr, depth: int) -> bool:
        """Whether `caller` is traced and the call in it with it.

        Tensor code that only might be compiled by itself carries calls that are given what it
        computes on, and no further than one module.
        """
        if self.reason(caller, depth + 1) is None:
            return False
        return caller not in self._free or (
            self._free[caller] == _COMPUTES and call in arguments_handed_on(caller)
        )

    def _note_free(self, function: Function, caller: Function) -> None:
        if caller in self._free:
            self._free[function] = f"called from {caller.qualname}"

    def _from_decorator(self, function: Function, depth: int) -> str | None:
        """A function inside another one: reached with it, or as a decorator's wrapper."""
        outermost = function
        while outermost.outer is not None:
            outermost = outermost.outer
        if self.reason(outermost, depth + 1) is not None:
            # The function around is reached from elsewhere: so is what it calls.
            return self._spread_from(outermost).get(function)
        sites = self._project.uses.search(outermost, _MAX_FILES)
        if isinstance(sites, CallersUnknown):
            return None
        for _, site in zip(range(_MAX_SITES), sites, strict=False):
            if site.use is Use.DECORATOR and site.function is not None:
                wrappers = self._project.graph.decorated(site.function).wrappers
                if wrappers and self._computes(site.function, depth):
                    if function in self._closure(wrappers, function.module):
                        return f"wraps {site.function.qualname} in {site.module.name}"
        return None

    def _computes(self, function: Function, depth: int) -> bool:
        """Whether the function is traced for more than what it hands on."""
        reason = self.reason(function, depth + 1)
        return reason is not None and self._free.get(function, _COMPUTES) == _COMPUTES

    def _spread_from(self, function: Function) -> dict[Function, str]:
        return self._closure([function], function.module)

    def _closure(self, functions: Iterable[Function], module: Module) -> dict[Function, str]:
        found = {f: "called" for f in functions}
        self._spread(found, module)
        return found


def _own_helpers(function: Function) -> list[Function]:
    """The functions defined inside `function` that it calls itself."""
    called = {
        node.func.id
        for node in function.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    every = function.module.functions.values()
    return [f for f in every if f.outer is function and f.name in called]


def _called_from(site: CallSite) -> str:
    name = site.function.qualname if site.function is not None else site.module.name
    return f"called from {name} in {site.module.name}"
