"""Effects of calls: operators, builtins, methods, layers, functions of the project."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmend.analyses import calls, selections
from graphmend.analyses.effect_set import (
    IMPURE,
    LOGS,
    MAY_RAISE,
    NOTHING,
    EffectSet,
    Write,
    union,
)
from graphmend.analyses.kind import STATIC, Kind, Tag
from graphmend.analyses.operators import OperatorFacts, module_facts
from graphmend.analyses.roots import Owner, Root
from graphmend.analyses.untraced import DEFERRED
from graphmend.ir.members import decorator_names
from graphmend.ir.module import ClassInfo, Function

if TYPE_CHECKING:
    from graphmend.analyses.effects import Effects

_TOTAL_BUILTINS = frozenset("isinstance callable id type tuple list dict set repr".split())
_PURE_BUILTINS = _TOTAL_BUILTINS | frozenset(
    "len hasattr getattr issubclass range enumerate zip reversed sorted any all sum min max abs"
    " round int float bool str format complex bytes divmod pow map filter iter slice frozenset"
    " ord chr hash super hex bin oct object staticmethod classmethod property vars dir".split()
)
_ASKED = frozenset({"isinstance", "hasattr", "callable", "issubclass"})
_IMPURE_BUILTINS = frozenset("next open input globals locals eval exec compile __import__".split())
_IMPURE_MODULES = (
    "time.", "random.", "datetime.", "uuid.", "secrets.", "os.", "sys.", "subprocess.",
    "threading.", "numpy.random.", "gc.", "tempfile.", "shutil.", "socket.",
    "pathlib.", "torch.cuda.", "queue.", "torch.distributed.",
)  # fmt: skip
_PURE_MODULES = (
    "math.", "copy.", "functools.", "itertools.", "operator.", "collections.", "typing.", "numpy.",
    "dataclasses.", "inspect.", "re.", "string.", "contextlib.", "enum.", "packaging.", "torch.nn.",
    "torch.autocast", "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.Tensor",
    "torch.amp.", "torch.jit.", "torch.profiler.", "types.", "abc.", "numbers.", "fractions.",
    "platform.", "importlib.",
)  # fmt: skip
_REGISTERS = frozenset("register_buffer register_parameter register_module add_module".split())
_CHANGES = frozenset(
    "append extend insert add update clear pop popitem remove discard setdefault sort reverse"
    " appendleft popleft extendleft rotate __setitem__ move_to_end".split()
)
_ARRAY_CHANGES = frozenset("sort fill resize put partition itemset byteswap setflags".split())
_LOOKS = frozenset(
    "get keys values items copy index count split join strip lstrip rstrip startswith endswith"
    " format replace lower upper title partition rpartition splitlines isdigit encode decode union"
    " intersection difference issubset issuperset removeprefix removesuffix as_integer_ratio"
    " is_integer bit_length isalpha isnumeric zfill ljust rjust center casefold find".split()
)
_LOGICAL = frozenset(
    f"torch.{where}{name}"
    for where in ("", "Tensor.")
    for name in "logical_or logical_and logical_xor eq ne lt le gt ge maximum minimum".split()
)
_ONE_ELEMENT = frozenset({"torch.Tensor.item", "torch.is_nonzero", "torch.Tensor.is_nonzero"})


def call(effects: Effects, node: ast.Call, function: Function, stmt: ast.stmt | None) -> EffectSet:
    """The effects of a call, without those of evaluating its arguments."""
    name = calls.qualified(effects.kinds, node, function)
    if name == selections.SELECT:
        return _selection(effects, node, function, stmt)
    known = _named(effects, name, node, function, stmt) if name is not None else None
    if known is not None:
        return known
    ran = calls.operator(effects.kinds, node, function, stmt)
    if ran is not None:
        return _operator(effects, *ran, function, stmt)
    reached = effects.project.callees(node, function)
    if reached.functions:
        parts = [_reached(effects, r, node, function, stmt) for r in reached.functions]
        return union(parts) | (NOTHING if reached.complete else _unknown(node))
    kind = effects.kinds.evaluate(node.func, function, stmt)
    layer = module_facts(kind.name) if kind.name is not None else None
    if layer is not None and layer.returns != "unknown":
        return EffectSet(
            may_raise_shape=True,
            may_raise_data=layer.raises_on_data,
            random=layer.random,
            writes=_state_of(node) if layer.writes_state else frozenset(),
        )
    if name is not None and name.startswith(_PURE_MODULES):
        return MAY_RAISE
    if isinstance(node.func, ast.Attribute) and name is None:
        return _method(effects, node, node.func, function, stmt)
    return _unknown(node)


def _selection(
    effects: Effects, node: ast.Call, function: Function, stmt: ast.stmt | None
) -> EffectSet:
    """The effects of the sides, whose calls of one another are not unknown."""
    calls_made = selections.side_calls(node, function)
    found = union(_function(effects, inner, call, function, stmt) for inner, call in calls_made)
    names = {inner.name for inner, _ in calls_made}
    return replace(found, unknown=found.unknown - names)


def _unknown(node: ast.Call) -> EffectSet:
    return EffectSet(unknown=frozenset({ast.unparse(node.func)}), may_raise=True)


def _state_of(node: ast.Call) -> frozenset[Write]:
    root = Root(Owner.ATTRIBUTE, ast.unparse(node.func))
    return frozenset({Write(root, tensor=True)})


def _named(
    effects: Effects, name: str, node: ast.Call, function: Function, stmt: ast.stmt | None
) -> EffectSet | None:
    """Effects of functions that are known by name, torch's operators excluded."""
    builtin = name.removeprefix("builtins.")
    if builtin != name:
        return _builtin(effects, builtin, node, function, stmt)
    if name.startswith(("warnings.", "logging.")):
        harmless = name.rpartition(".")[2] in ("getLogger", "catch_warnings")
        return NOTHING if harmless else LOGS
    if name.startswith("math."):
        kinds = _argument_kinds(effects, node, function, stmt)
        data = any(kind.reads_data for kind in kinds)
        return EffectSet(may_raise=True, may_raise_data=data, reads_data=data)
    if name.startswith(_IMPURE_MODULES):
        return None if name.startswith("torch.cuda.is_") else IMPURE
    return None


def _argument_kinds(
    effects: Effects, node: ast.Call, function: Function, stmt: ast.stmt | None
) -> list[Kind]:
    return [effects.kinds.evaluate(argument, function, stmt) for argument in node.args]


def _builtin(
    effects: Effects, name: str, node: ast.Call, function: Function, stmt: ast.stmt | None
) -> EffectSet:
    if name == "print":
        return LOGS
    if name in _IMPURE_BUILTINS:
        return IMPURE
    if name in ("setattr", "delattr"):
        return effects.written(node.args[0], function, stmt, tensor=False) | MAY_RAISE
    if name not in _PURE_BUILTINS:
        exception = name.endswith(("Error", "Exception", "Warning", "Iteration"))
        return NOTHING if exception else _unknown(node)
    kinds = _argument_kinds(effects, node, function, stmt)
    reads = calls.reads(effects.kinds, node, function, stmt)
    if name in _ASKED or name == "len" and kinds and _sized(kinds[0]):
        return NOTHING
    static = name in ("bool", "str", "list", "tuple") and all(kind.folds for kind in kinds)
    return EffectSet(
        may_raise=not static,
        may_raise_shape=reads,
        may_raise_data=reads and name in ("int", "range"),
        reads_data=reads,
    )


def _sized(kind: Kind) -> bool:
    return kind.tag is Tag.CONTAINER and not kind.optional


def _operator(
    effects: Effects,
    found: OperatorFacts,
    given: dict[str, ast.expr],
    function: Function,
    stmt: ast.stmt | None,
) -> EffectSet:
    kinds = {name: effects.kinds.evaluate(value, function, stmt) for name, value in given.items()}
    written = [v for name, v in given.items() if _position(found, name) in found.writes]
    if "out" in given and kinds["out"].tag is not Tag.STATIC:
        written.append(given["out"])
    writes = union(effects.written(value, function, stmt, tensor=True) for value in written)
    return writes | EffectSet(
        may_raise_data=found.raises_on_data and _data_matters(found, kinds),
        may_raise_shape=not _fits(found, kinds),
        random=found.random and _draws(given),
        impure=found.impure,
        reads_data=found.reads_scalar,
        dynamic_shape=calls.grows(effects.kinds, found, given, function, stmt),
    )


def _draws(given: dict[str, ast.expr]) -> bool:
    """Dropout that is switched off where it stands draws nothing."""
    training = given.get("training")
    return not (isinstance(training, ast.Constant) and training.value is False)


def _data_matters(found: OperatorFacts, kinds: dict[str, Kind]) -> bool:
    """Dividing by, or splitting at, what is static cannot fail for some data and not for other.

    Places to split at are Python numbers, unless something says that they come from a tensor.
    """
    last = found.name.rpartition(".")[2].rstrip("_")
    others = list(kinds.values())[1:]
    if last in ("narrow", "split", "split_with_sizes", "tensor_split"):
        return any(kind.reads_data or (kind.element or STATIC).reads_data for kind in others)
    if last in ("floor_divide", "remainder", "fmod"):
        return any(kind.tag is not Tag.STATIC for kind in others)
    return True


def _fits(found: OperatorFacts, kinds: dict[str, Kind]) -> bool:
    """Whether no shape or dtype of the arguments can make the operator fail."""
    tensors = list(kinds.values())
    if not all(kind.sure_tensor for kind in tensors):
        return found.returns == "static" and not tensors
    single = all(kind.zero_dim for kind in tensors)
    return found.total or single and (found.name in _LOGICAL or found.name in _ONE_ELEMENT)


def _position(found: OperatorFacts, name: str) -> int:
    return found.params.index(name) if name in found.params else -1


def _reached(
    effects: Effects,
    reached: Function | ClassInfo,
    node: ast.Call,
    function: Function,
    stmt: ast.stmt | None,
) -> EffectSet:
    if isinstance(reached, Function):
        return _function(effects, reached, node, function, stmt)
    return _construction(effects, reached, node, function, stmt)


def _function(
    effects: Effects,
    reached: Function,
    node: ast.Call,
    function: Function,
    stmt: ast.stmt | None,
) -> EffectSet:
    """The effects of the callee, its writes said in the caller's terms."""
    inside = effects.of_function(reached)
    writes = {
        Write(root, write.tensor)
        for write in inside.writes
        for root in effects.roots.at_call([write.root], reached, node, function, stmt)
    }
    later = DEFERRED & set(decorator_names(reached))  # what fails in it fails behind the graph
    fails = inside.may_raise_data and not later
    return replace(inside, writes=frozenset(writes), may_raise=True, may_raise_data=fails)


def _construction(
    effects: Effects,
    reached: ClassInfo,
    node: ast.Call,
    function: Function,
    stmt: ast.stmt | None,
) -> EffectSet:
    """Making an object: what its `__init__` does to anything but the object itself."""
    for base in effects.project.hierarchy.ancestors(reached):
        made = base.methods.get("__init__")
        if made is not None:
            found = _function(effects, made, node, function, stmt)
            own = f"{ast.unparse(node.func)}."
            kept = frozenset(w for w in found.writes if not f"{w.root.name}.".startswith(own))
            return replace(found, writes=kept)
    return MAY_RAISE


def _method(
    effects: Effects,
    node: ast.Call,
    func: ast.Attribute,
    function: Function,
    stmt: ast.stmt | None,
) -> EffectSet:
    kind, name = effects.kinds.evaluate(func.value, function, stmt), func.attr
    if kind.tag is Tag.LOGGER:
        return LOGS
    if name == "__init__" and isinstance(func.value, ast.Call):
        return MAY_RAISE  # of a base class outside the project, mostly torch.nn.Module
    if name in _REGISTERS and kind.tag in (Tag.MODULE, Tag.UNKNOWN):
        root = Root(Owner.ATTRIBUTE, f"{ast.unparse(func.value)}.{_text(node.args)}")
        return EffectSet(frozenset({Write(root, tensor=False)}), may_raise=True)
    if name in _CHANGES and kind.tag in (Tag.CONTAINER, Tag.UNKNOWN, Tag.STATIC):
        writes = effects.written(func.value, function, stmt, tensor=False)
        kept = writes if writes.writes or kind.tag is Tag.STATIC else _unknown(node)
        return kept | (NOTHING if name == "append" else MAY_RAISE)
    if name in _LOOKS and kind.tag in (Tag.CONTAINER, Tag.STATIC, Tag.SCALAR, Tag.UNKNOWN):
        return MAY_RAISE
    if kind.tag in (Tag.NUMPY, Tag.SCALAR):
        changed = effects.written(func.value, function, stmt, tensor=True)
        return (changed if name in _ARRAY_CHANGES else NOTHING) | MAY_RAISE
    if kind.tag is Tag.MODULE and name in ("parameters", "buffers", "children", "modules"):
        return NOTHING
    return _unknown(node)


def _text(arguments: list[ast.expr]) -> str:
    """The first argument where it is a literal string."""
    first = arguments[0] if arguments else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "?"
