"""Whether a function computes on tensors that its caller hands it."""

from __future__ import annotations

import ast
import re

from graphmend.ir.bindings import own_nodes
from graphmend.ir.module import Function, Module

# Methods that tensors have and that nothing else commonly met in such code has.
TENSOR_METHODS = frozenset(
    """abs addmm amax amin any all argmax argmin argsort backward bernoulli bfloat16 bmm bool
    broadcast_to chunk clamp clamp_max clamp_min clone contiguous cos cpu cumprod cumsum detach
    diagonal diff dim double einsum eq erf exp expand expand_as expm1 flatten flip float floor
    gather ge gt half index_add index_copy index_fill index_select int isfinite isinf isnan item le
    log log1p log2 log_softmax logical_and logical_not logical_or logical_xor logsumexp long lt
    masked_fill masked_scatter masked_select matmul max maximum mean median min minimum mm movedim
    mul multinomial mv nan_to_num narrow ne neg new_full new_ones new_tensor new_zeros nonzero norm
    numel outer permute pow prod reciprocal relu repeat repeat_interleave requires_grad_ reshape
    reshape_as roll round rsqrt scatter scatter_add scatter_reduce select sigmoid sign sin softmax
    sort split_with_sizes sqrt square squeeze std sub sum swapaxes t tan tanh tensor_split tile to
    tolist topk transpose tril triu type_as unbind unflatten unfold unique unsqueeze var view
    view_as where""".split()
)
# Of these, methods of strings, lists, numbers, arrays and frames as well: no evidence alone.
_AMBIGUOUS = frozenset(
    "any all max min sum mean std var round sort flatten item tolist to where eq ge gt le lt ne int"
    " float bool select unique t repeat dim".split()
)
_IMPORTS_TORCH = re.compile(r"^\s*(import|from)\s+torch\b", re.MULTILINE)
_WRITES = frozenset("add copy div fill mul sub zero".split())
_NOT_COMPUTING = re.compile(
    r"torch\.(load|save|device|cuda|backends|distributed|optim|utils|jit|compile|compiler|hub|onnx"
    r"|manual_seed|seed|random|set_\w+|get_\w+|is_(?!nonzero)\w+|no_grad|enable_grad"
    r"|inference_mode|autocast|amp|Generator|export|_\w+|profiler|package|multiprocessing|finfo"
    r"|iinfo|Size|tensor|from_numpy|as_tensor|version|__version__|nn\.init|nn\.[A-Z]\w*)(\.|$)"
)
_PLAIN_ANNOTATION = frozenset({"int", "str", "bool", "float", "dict", "bytes", "Path", "None"})


def is_tensor_function(name: str) -> bool:
    """Whether the dotted name is of a torch function that computes on tensors."""
    return name.startswith("torch.") and not _NOT_COMPUTING.match(name)


def computes_on_tensors(function: Function) -> bool:
    """Whether the body applies torch functions or tensor methods to a parameter.

    Parameters count with everything computed from them; annotations with `Tensor` in them count
    as evidence by themselves, annotations with plain types against.
    """
    if any("Tensor" in annotation for annotation in _annotations(function).values()):
        return True
    known = _derived(function)
    votes = 0
    for node in own_nodes(function.node.body):
        if not isinstance(node, ast.Call):
            continue
        name = function.module.qualified(node.func, function)
        if name is not None:
            given = [*node.args, *(k.value for k in node.keywords)]
            if is_tensor_function(name) and any(_mentions(a, known) for a in given):
                return True
        elif isinstance(node.func, ast.Attribute) and _mentions(node.func.value, known):
            method = node.func.attr
            in_place = method.endswith("_") and method[:-1] in TENSOR_METHODS | _WRITES
            if in_place or (method in TENSOR_METHODS and method not in _AMBIGUOUS):
                return True
            votes += method in _AMBIGUOUS
    return votes > 0 and imports_torch(function.module)


def arguments_handed_on(function: Function) -> list[ast.Call]:
    """The calls in the body that are given a parameter or something computed from one."""
    known = _derived(function)
    return [
        node
        for node in own_nodes(function.node.body)
        if isinstance(node, ast.Call)
        and any(_mentions(a, known) for a in [*node.args, *(k.value for k in node.keywords)])
    ]


def imports_torch(module: Module) -> bool:
    """Whether the module imports torch or one of its parts anywhere."""
    return _IMPORTS_TORCH.search(module.source.text) is not None


def _annotations(function: Function) -> dict[str, str]:
    arguments = function.node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {a.arg: ast.unparse(a.annotation) for a in every if a.annotation is not None}


def _derived(function: Function) -> set[str]:
    """The parameters, without `self` and those annotated as plain values, and what is assigned
    from them."""
    annotations = _annotations(function)
    skipped = function.params[:1] if function.owner is not None else []
    known = {
        p
        for p in function.params
        if p not in skipped and not _PLAIN_ANNOTATION.issuperset(_words(annotations.get(p, "?")))
    }
    for _ in range(2):  # a second round for loops
        for node in own_nodes(function.node.body):
            match node:
                case ast.Assign(targets=targets, value=value):
                    pass
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    targets = [target]
                case ast.NamedExpr(target=target, value=value):
                    targets = [target]
                case (
                    ast.For(target=target, iter=value)
                    | ast.comprehension(target=target, iter=value)
                ):
                    targets = [target]
                case _:
                    continue
            if _mentions(value, known):
                known |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return known


def _words(annotation: str) -> set[str]:
    return set(re.findall(r"\w+", annotation)) - {"Optional", "Union", "typing"} or {"?"}


def _mentions(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node))
