"""Kinds: which conditions read tensor data, which fold while tracing, and which nobody can tell."""

from pathlib import Path

import pytest

from graphmend.analyses.kind import Tag
from tests.analyses.snippets import Snippet

# What must not be called a read of data: it folds, or nothing is known.
STATIC = [
    ("x: Tensor", "x.dtype == torch.float16"),
    ("x: Tensor", "x.shape[0] > 3"),
    ("x: Tensor, y: Tensor", "x.shape == y.shape and x.device == y.device"),
    ("x: Tensor", "x.dim() == 2"),
    ("x: Tensor", "x.numel() > 1"),
    ("x: Tensor", "x.is_floating_point()"),
    ("x: Tensor", "torch.is_floating_point(x)"),
    ("x: Tensor", "x.requires_grad"),
    ("x: Tensor", "x is None"),
    ("x: Optional[Tensor]", "x is not None"),
    ("x: Tensor", "isinstance(x, Tensor)"),
    ("x: Tensor", "len(x) == 2"),
    ("x: Tensor", "hasattr(x, 'name')"),
    ("x: Tensor", "torch.is_grad_enabled()"),
    ("x: Tensor", "torch.compiler.is_compiling()"),
    ("x: Tensor", "torch.jit.is_tracing()"),
    ("x: Tensor", "torch.finfo(x.dtype).max > 1000"),
    ("x: Tensor, mode", "mode == 'mean'"),
    ("x: Tensor, n: int", "n > 0"),
    ("x: Tensor, flag=False", "not flag"),
    ("xs: list[Tensor]", "xs"),
    ("xs: list[Tensor]", "len(xs) > 1"),
    ("n: int", "math.sqrt(n) > 2"),
    ("x: Tensor, config", "config.use_cache"),
    ("x: Tensor", "'key' in {'key': x}"),
]

DATA = [
    ("x: Tensor", "x"),
    ("x: Tensor", "x.any()"),
    ("x: Tensor", "not x.any()"),
    ("x: torch.FloatTensor", "x.sum() > 0"),
    ("x: 'torch.Tensor'", "x.sum() > 0"),
    ("x: Optional[Tensor]", "x is not None and x.any()"),
    ("x: Tensor | None", "(x == 0).all()"),
    ("x", "x.isnan().any()"),
    ("x", "torch.isinf(x).any()"),
    ("x", "torch.max(x) <= 1.0"),
    ("scale", "(scale <= 0).any()"),
    ("box", "(box[:, 2:] <= box[:, :2]).any()"),
    ("x: Tensor", "x.dtype == torch.float16 and (torch.isinf(x).any() or torch.isnan(x).any())"),
    ("x: Tensor", "x.item()"),
    ("x: Tensor", "x.sum().item() > 0"),
    ("x: Tensor", "int(x.max()) + 1 > 3"),
    ("x: Tensor", "float(x) > 0.5"),
    ("x: Tensor", "bool(x)"),
    ("x: Tensor", "x.tolist() == [1, 2]"),
    ("x: Tensor", "any(x >= 0)"),
    ("x: Tensor", "all(v > 0 for v in x)"),
    ("x: Tensor", "max(x) > 0"),
    ("x: Tensor", "3 in x"),
    ("x: Tensor", "0 < x.mean() < 1"),
    ("x: Tensor, y: Tensor", "torch.equal(x, y)"),
    ("x: Tensor, y: Tensor", "torch.allclose(x, y)"),
    ("x: Tensor, y: Tensor", "x.max(dim=0).values[0] > 0"),
    ("x: Tensor", "torch.max(x, 0)[1][0] > 0"),
    ("xs: list[Tensor]", "sum(xs) > 0"),
    ("xs: list[Tensor]", "xs[0] > 0"),
    ("x: Tensor", "torch.where(x)[0].numel() > 0"),
    ("x: Tensor", "len(torch.nonzero(x)) > 0"),
    ("x: Tensor", "x[x > 0].shape[0] > 0"),
    ("x: Tensor", "math.isnan(x)"),
    ("rows", "np.count_nonzero(rows) != 1"),
    ("x: Tensor, flag: bool", "flag and torch.logical_or(x.isnan().any(), x.isinf().any())"),
    ("x: Tensor", "f'{x.sum()}' == f'{x.mean()}'"),
]

UNKNOWN = [
    ("x", "x"),
    ("x", "x > 0"),
    ("x", "x.name"),
    ("x", "x.attribute == 3"),
    ("x, y", "x == y"),
    ("x", "'a,b'.split(x)[0] == x"),
]


def _with(tmp_path: Path, signature: str, condition: str) -> Snippet:
    return Snippet(tmp_path, f"def f({signature}):\n    if {condition}:\n        pass\n")


@pytest.mark.parametrize(("signature", "condition"), STATIC)
def test_static_conditions_fold(tmp_path: Path, signature: str, condition: str) -> None:
    snippet = _with(tmp_path, signature, condition)
    assert not snippet.reads_truth(condition)
    assert snippet.is_static(condition)


@pytest.mark.parametrize(("signature", "condition"), UNKNOWN)
def test_nothing_is_claimed_without_evidence(
    tmp_path: Path, signature: str, condition: str
) -> None:
    snippet = _with(tmp_path, signature, condition)
    assert not snippet.reads_truth(condition)
    assert not snippet.is_static(condition)


@pytest.mark.parametrize(("signature", "condition"), DATA)
def test_conditions_on_data_are_reads(tmp_path: Path, signature: str, condition: str) -> None:
    snippet = _with(tmp_path, signature, condition)
    assert snippet.reads_truth(condition)
    assert not snippet.is_static(condition)


def test_the_definition_that_reaches_counts(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor, n: int):
            flag = n > 3
            early = flag
            flag = x.sum() > 0
            late = flag
            return early, late
        """,
    )
    function = snippet.function()
    early = snippet.statement("early", function)
    late = snippet.statement("late", function)
    assert snippet.kinds.of(early.value, function).tag is Tag.STATIC  # type: ignore[attr-defined]
    assert snippet.kinds.of(late.value, function).tag is Tag.TENSOR  # type: ignore[attr-defined]


def test_a_value_that_is_data_on_one_path_is_mixed(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor, n: int):
            flag = False
            if n:
                flag = x.any()
            return flag
        """,
    )
    function = snippet.function()
    value = snippet.statement("return", function).value  # type: ignore[attr-defined]
    assert snippet.kinds.of(value, function).tag is Tag.MIXED


def test_loops_settle(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor, steps: int):
            t, step, total = torch.tensor(1.0), 0, 0
            while t >= 0:
                t = t - x
                total = total + step
                step += 1
            return total > 3
        """,
    )
    assert snippet.reads_truth("t >= 0")
    assert snippet.is_static("total > 3")


def test_reductions_have_no_dimensions(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor):
            return x.sum(), x.sum(0), x.any(), x.isnan(), (x > 0).all() & x.any()
        """,
    )
    assert snippet.kind("x.sum()").zero_dim
    assert not snippet.kind("x.sum(0)").zero_dim
    assert snippet.kind("x.any()").bool_dtype or snippet.kind("x.any()").zero_dim
    assert snippet.kind("x.isnan()").bool_dtype
    assert not snippet.kind("x.isnan()").zero_dim
    assert snippet.kind("(x > 0).all() & x.any()").zero_dim


def test_modules_know_their_members(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        class Layer(nn.Module):
            scale: float

            def __init__(self, width, limit=1.0):
                super().__init__()
                self.proj = nn.Linear(width, width)
                self.table = nn.Embedding(width, width)
                self.gain = nn.Parameter(torch.ones(1))
                self.register_buffer("seen", torch.zeros(()))
                self.limit = limit
                self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
                self.calls = 0

            def forward(self, x, ids):
                a = self.proj(x)
                b = self.table(ids)
                self.calls += 1
                for block in self.blocks:
                    c = block(a)
                return a, b, c, self.gain > 0, self.seen > 0, self.helper(a)

            def helper(self, value):
                if value.sum() > 0:
                    return value
                return value * 2

            def checks(self, x):
                return (self.training, self.limit > 0, self.calls > 3, self.scale > 0,
                        self.proj.in_features > 3, self.proj.weight.sum() > 0)
        """,
    )
    for text in ("self.proj(x)", "self.table(ids)", "block(a)", "self.gain > 0", "self.seen > 0"):
        assert snippet.reads_truth(text, "Layer.forward"), text
    assert snippet.kind("self.helper(a)", "Layer.forward").tag is Tag.TENSOR
    assert snippet.reads_truth("self.proj.weight.sum() > 0", "Layer.checks")
    for text in ("self.training", "self.limit > 0", "self.calls > 3", "self.scale > 0"):
        assert snippet.is_static(text, "Layer.checks"), text
    assert snippet.is_static("self.proj.in_features > 3", "Layer.checks")


def test_parameters_take_the_kind_of_what_is_passed(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        from helpers import describe

        class Layer(nn.Module):
            def attend(self, h, use_global=False, verbose=False):
                if use_global:
                    h = h * 2
                if verbose:
                    h = h * 3
                return h

            def forward(self, h: Tensor, mask: Tensor):
                flag = mask.any().item()
                return self.attend(h, use_global=flag), describe(mask.any(), "all")
        """,
        helpers="""
        def describe(condition, text):
            return condition
        """,
    )
    assert snippet.reads_truth("use_global", "Layer.attend")
    assert snippet.is_static("verbose", "Layer.attend")
    assert snippet.kind("describe(mask.any(), 'all')", "Layer.forward").tag in (
        Tag.TENSOR,
        Tag.UNKNOWN,
    )


def test_containers_hold_what_is_put_into_them(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor, n: int):
            outs, sizes, table = [], [], {}
            for part in x:
                outs.append(part * 2)
                sizes.append(n)
                table["last"] = part
            for i, (out, size) in enumerate(zip(outs, sizes)):
                print(out > 0, size > 0, i > 0)
            return outs[0] > 1, table["last"] > 1, table.get("last") > 2
        """,
    )
    for text in ("out > 0", "outs[0] > 1", "table['last'] > 1", "table.get('last') > 2"):
        assert snippet.reads_truth(text), text
    assert snippet.is_static("size > 0")
    assert snippet.is_static("i > 0")


def test_loggers_are_found_across_modules(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        from logs import annotated, returned, LOG
        own = logging.getLogger(__name__)
        first, second = 1, 2
        third = annotated()
        fourth = returned("x")

        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.logger = logging.getLogger("layer")

            def forward(self, x):
                self.logger.info("x")
                own.info("x")
                third.info("x")
                fourth.info("x")
                LOG.info("x")
                x.info("x")
        """,
        logs="""
        def annotated(name=None) -> logging.Logger:
            return make(name)

        def returned(name):
            found = logging.getLogger(name)
            return found

        LOG = returned("y")
        """,
    )
    for text in ("self.logger", "own", "third", "fourth", "LOG"):
        assert snippet.kind(text, "Layer.forward").tag is Tag.LOGGER, text
    assert snippet.kind("x", "Layer.forward").tag is not Tag.LOGGER


def test_recursion_ends(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor, n: int):
            if n == 0:
                return x
            return g(x, n - 1)

        def g(x, n):
            return f(x * 2, n)

        def h(n):
            return h(n)
        """,
    )
    assert snippet.kind("g(x, n - 1)").tag is Tag.TENSOR
    assert snippet.kind("h(n)", "h").tag in (Tag.UNKNOWN, Tag.STATIC, Tag.BOTTOM)


def test_reads_are_found_where_they_happen(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor, n: int):
            return x.sum() if n else int(x.max()) + len(x.tolist())
        """,
    )
    function = snippet.function()
    value = snippet.statement("return", function).value  # type: ignore[attr-defined]
    reads = sorted(snippet.module.text_of(node) for node in snippet.kinds.reads(value, function))
    assert reads == ["int(x.max())", "x.tolist()"]


def test_expressions_from_outside_the_tree_are_read_at_their_statement(tmp_path: Path) -> None:
    import ast

    snippet = Snippet(tmp_path, "def f(xs: list[Tensor]):\n    ys = xs\n    return ys\n")
    function = snippet.function()
    loose = ast.parse("any(y > 0 for y in ys)", mode="eval").body
    statement = snippet.statement("return", function)
    assert snippet.kinds.truth_reads_data(loose, function, statement)
    assert snippet.kinds.reads_data(loose, function, statement)
