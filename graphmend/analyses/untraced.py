"""Functions that torch.compile does not trace, whatever they compute."""

from __future__ import annotations

import ast
import re

from graphmend.ir.members import decorator_names
from graphmend.ir.module import Function
from graphmend.ir.project import Project

_SETUP = re.compile(
    r"__(init|new|repr|str|del|getstate|setstate|reduce|reduce_ex|deepcopy|copy|post_init"
    r"|init_subclass|set_name|class_getitem|getnewargs|sizeof|dir|format|hash)__$"
    r"|extra_repr$|reset_parameters$|_?init_weights$|_?initialize_weights$|post_init$|from_pretrained$"
    r"|from_config$|save_pretrained$|_?load_|_?save_|(\w+_)?state_dict$|_load_from_state_dict$"
    r"|\w*state_dict_(pre_|post_)?hook$|push_to_hub$|setup(_class)?$|teardown(_class)?$"
)
_DISABLED = frozenset(
    {
        "torch.jit.ignore",
        "torch.jit.unused",
        "torch.compiler.disable",
        "torch._dynamo.disable",
        "torch._dynamo.skip",
        "torch._disable_dynamo",
    }
)
_OPAQUE = frozenset(
    {
        "torch.library.custom_op",
        "torch.library.register_fake",
        "torch.library.impl",
        "torch.compiler.allow_in_graph",
        "torch.compiler.assume_constant_result",
        "triton.jit",
        "numba.jit",
        "numba.njit",
        "pytest.fixture",
    }
)
DEFERRED = frozenset(
    f"graphmend.runtime.{name}" for name in ("deferred_check", "deferred_effect", "async_check")
)
_NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode"})
_DRIVER_CALLS = frozenset(
    {
        "torch.load",
        "torch.save",
        "torch.compile",
        "torch.export.export",
        "torch._dynamo.explain",
        "torch.onnx.export",
        "torch.jit.trace",
        "torch.utils.data.DataLoader",
        "argparse.ArgumentParser",
        "builtins.open",
        "builtins.input",
    }
)
_OPTIMIZER = re.compile(r"optim|sched|scaler|\bopt\b")
_DRIVER_METHODS = frozenset("backward zero_grad parse_args state_dict generate".split())
# Walks over a model from outside: code that prepares or converts it.
_MODEL_WALKS = frozenset(
    "named_modules named_children named_parameters get_submodule register_module".split()
)


def never_traced(project: Project, function: Function) -> str | None:
    """Why `function` is never part of a compiled region; None where it may be."""
    names = set(decorator_names(function))
    if names & DEFERRED:
        return "runs after the graph"
    if names & _DISABLED:
        return "excluded from compilation by its decorator"
    if names & _OPAQUE:
        return "opaque to the compiler by its decorator"
    if _SETUP.match(function.name):
        return "sets up, prints or stores objects"
    if _is_test(project, function):
        return "test code"
    return _by_class(project, function)


def _is_test(project: Project, function: Function) -> bool:
    stem = function.module.path.stem
    if stem.startswith("test_") or stem.endswith("_test") or stem == "conftest":
        return True
    if function.name.startswith("test_"):
        return True
    owner = function.owner
    return owner is not None and "unittest.TestCase" in project.hierarchy.order(owner)


def _by_class(project: Project, function: Function) -> str | None:
    if "collate" in function.name:
        return "prepares batches"
    for base in project.hierarchy.order(function.owner) if function.owner is not None else ():
        if isinstance(base, str):
            if base.startswith("torch.utils.data."):
                return "loads data"
            if base in {"torch.autograd.Function", "torch.autograd.function.Function"}:
                return "part of an autograd function"
    return None


def drives(function: Function) -> str | None:
    """Why `function` looks like a program that uses a model rather than a part of one."""
    for node in function.nodes:
        if isinstance(node, ast.Call):
            name = function.module.qualified(node.func, function)
            if name is not None and (name in _DRIVER_CALLS or name.startswith("importlib.")):
                return f"calls {name.removeprefix('builtins.')}"
            if name is None and isinstance(node.func, ast.Attribute):
                method = node.func.attr
                if method in _DRIVER_METHODS or _is_mode_switch(node, function):
                    return f"calls .{method}()"
                if method in _MODEL_WALKS and not _on_itself(node.func, function):
                    return f"calls .{method}()"
                if method == "step" and _OPTIMIZER.search(ast.unparse(node.func.value).lower()):
                    return "steps an optimizer"
        elif isinstance(node, ast.For | ast.comprehension) and _is_loader(node.iter):
            return "iterates over a data loader"
    return _generates(function)


def _is_mode_switch(call: ast.Call, function: Function) -> bool:
    """`model.train()`, `model.eval()`, `model.train(False)` on something that is not `self`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"train", "eval"}:
        return False
    return not _on_itself(call.func, function) and len(call.args) <= 1 and not call.keywords


def _on_itself(called: ast.Attribute, function: Function) -> bool:
    """Whether the attribute is one of `self`."""
    base = called.value
    own = function.params[:1] if function.owner is not None else []
    return isinstance(base, ast.Name) and base.id in own


def _is_loader(iterated: ast.expr) -> bool:
    names = [n.id for n in ast.walk(iterated) if isinstance(n, ast.Name)]
    names += [n.attr for n in ast.walk(iterated) if isinstance(n, ast.Attribute)]
    return any(re.search(r"(data_?)?loader$", name.lower()) for name in names)


def _generates(function: Function) -> str | None:
    """A loop around calls of the object itself, of a model, or, under a decorator that switches
    gradients off, of any parameter."""
    called = {"model"} & set(function.params) | set(function.params[:1] if function.owner else [])
    if not _NO_GRAD.isdisjoint(decorator_names(function)):
        called |= set(function.params)
    for node in function.nodes:
        if isinstance(node, ast.For | ast.While):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and _calls_one_of(inner, called, function):
                    return "a loop that calls the model"
    return None


def _calls_one_of(call: ast.Call, names: set[str], function: Function) -> bool:
    called = call.func
    if isinstance(called, ast.Name):
        return called.id in names
    return (
        function.owner is not None
        and isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id in function.params[:1]
        and called.attr == "model"
    )
