"""Whether a function computes on tensors that its caller hands it."""

from __future__ import annotations

import ast
import re

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
# Of those, methods that move a value or read it rather than compute with it.
_MOVES = frozenset("to item tolist int float bool select unique repeat".split())
_IMPORTS_TORCH = re.compile(r"^\s*(import|from)\s+torch\b", re.MULTILINE)
_WRITES = frozenset("add copy div fill mul sub zero".split())
_NOT_COMPUTING = re.compile(
    r"torch\.(load|save|device|cuda|backends|distributed|optim|utils|jit|compile|compiler|hub|onnx"
    r"|manual_seed|seed|random|set_\w+|get_\w+|is_(?!nonzero)\w+|no_grad|enable_grad"
    r"|inference_mode|autocast|amp|Generator|export|_\w+|profiler|package|multiprocessing|finfo"
    r"|iinfo|Size|tensor|from_numpy|as_tensor|version|__version__|nn\.init|nn\.[A-Z]\w*)(\.|$)"
)
_CREATES = re.compile(
    r"torch\.(zeros|ones|empty|full|rand|randn|randint|randperm|arange|eye|linspace|logspace)$"
)
_TENSOR = re.compile(r"\b\w*Tensor\b")
# Annotations of values that are no tensors, or that may be arrays of any framework.
_NO_TENSOR = re.compile(
    r"\b(int|str|bool|float|dict|bytes|Dict|Mapping|Path|PathLike|None|Callable|\w*Config|Module"
    r"|device|dtype|Tokenizer\w*|\w+Strategy|\w+Type|list|List|tuple|Tuple|set|Set|Sequence|Iterable"
    r"|Optional|Union|typing|Literal|Any)\b"
)
_NUMPY_INPUT = re.compile(
    r"numpy\.(random\.|load|save|from(file|string|buffer|iter)|genfromtxt|memmap)"
)
_ARRAYS = re.compile(r"\b(ndarray|np|jnp|tf|Image\w*|PIL)\b")


def is_tensor_function(name: str) -> bool:
    """Whether the dotted name is of a torch function that computes on tensors."""
    return name.startswith("torch.") and not (_NOT_COMPUTING.match(name) or _CREATES.match(name))


def computes_on_tensors(function: Function) -> bool:
    """Whether the body applies torch functions or tensor methods to a parameter.

    Parameters count with everything computed from them; annotations with tensor types count as
    evidence by themselves, annotations with plain types or arrays of other frameworks against.
    """
    if any(map(_is_tensor_type, _annotations(function).values())):
        return True
    known = _derived(function)
    votes = 0
    for node in function.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = function.module.qualified(node.func, function)
        if name is not None:
            given = [*node.args, *(k.value for k in node.keywords)]
            if any(_mentions(a, known) for a in given):
                if name.startswith("numpy."):
                    # TorchDynamo traces NumPy too, for those who write for torch to begin with.
                    return _needs_torch(function.module) and not _prepares_data(function)
                if is_tensor_function(name):
                    return True
        elif isinstance(node.func, ast.Attribute) and _mentions(node.func.value, known):
            method = node.func.attr
            in_place = method.endswith("_") and method[:-1] in TENSOR_METHODS | _WRITES
            if in_place or (method in TENSOR_METHODS and method not in _AMBIGUOUS):
                return True
            votes += method in _AMBIGUOUS and method not in _MOVES
    return votes > 0 and imports_torch(function.module)


def arguments_handed_on(function: Function) -> list[ast.Call]:
    """The calls in the body that are given a parameter or something computed from one."""
    known = _derived(function)
    return [
        node
        for node in function.nodes
        if isinstance(node, ast.Call)
        and any(_mentions(a, known) for a in [*node.args, *(k.value for k in node.keywords)])
    ]


def imports_torch(module: Module) -> bool:
    """Whether the module imports torch or one of its parts anywhere."""
    return _IMPORTS_TORCH.search(module.source.text) is not None


def _prepares_data(function: Function) -> bool:
    """Whether the body reads files or draws numbers with NumPy, as code does that makes inputs."""
    names = (
        function.module.qualified(node.func, function)
        for node in function.nodes
        if isinstance(node, ast.Call)
    )
    return any(name is not None and _NUMPY_INPUT.match(name) for name in names)


def _needs_torch(module: Module) -> bool:
    """Whether the module cannot be imported without torch: it imports it at its top level."""
    return any(
        isinstance(node, ast.Import | ast.ImportFrom)
        and any(name.split(".")[0] == "torch" for name in _imported(node))
        for node in module.tree.body
    )


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [] if node.level else [node.module or ""]
    return [alias.name for alias in node.names]


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
        if p not in skipped and (p not in annotations or _may_be_tensor(annotations[p]))
    }
    for _ in range(2):  # a second round for loops
        for node in function.nodes:
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
            if _mentions(value, known) and not _only_creates(value, function):
                known |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return known


def _only_creates(value: ast.expr, function: Function) -> bool:
    """Whether the value is a new tensor, for which the arguments give but size and device."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        name = function.module.qualified(value.func, function)
        if name is not None:
            return _CREATES.match(name) is not None
        value = value.func.value
    return False


def _is_tensor_type(annotation: str) -> bool:
    return _TENSOR.search(annotation) is not None and _ARRAYS.search(annotation) is None


def _may_be_tensor(annotation: str) -> bool:
    """Whether a value of the annotated type may be a tensor or hold some."""
    if _TENSOR.search(annotation) or _ARRAYS.search(annotation):
        return _is_tensor_type(annotation)
    return bool(set(re.findall(r"\w+", _NO_TENSOR.sub("", annotation))))


def _mentions(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node))
