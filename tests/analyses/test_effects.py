"""Effects: what may not be evaluated early, what writes, what fails on data, who is told apart."""

import ast
from pathlib import Path

import pytest

from tests.analyses.snippets import Snippet

_LAYER = """
class Layer(nn.Module):
    def __init__(self, flag=True):
        super().__init__()
        self.flag = flag
        self.register_buffer("seen", torch.zeros(3))
        if flag:
            self.sometimes = 1

    @property
    def busy(self):
        return self.compute()

    def forward(self, x: Tensor, y: Tensor, n: int, names: dict, c, u):
        if n:
            late = 1
            u.zero_()
        print({expr})
"""

# SEMANTICS P4: only what cannot raise, has no effect and costs no dynamic shape.
EARLY = [
    "torch.isinf(x).any()",
    "torch.isinf(x).any() | torch.isnan(x).any()",
    "torch.logical_or(x.isnan().any(), x.isinf().any())",
    "(x > 0).any()",
    "(x == 0).all()",
    "~torch.isfinite(x).all()",
    "x.dtype",
    "x.shape",
    "x.dtype == torch.float16",
    "x.float().isnan().any()",
    "self.flag",
    "self.training",
    "self.seen.isnan().any()",
    "torch.float16",
    "n",
    "isinstance(x, Tensor)",
]

NOT_EARLY = [
    ("x[0]", "an index may be out of range"),
    ("x.shape[0]", "a tensor may have no dimensions"),
    ("x > y", "shapes may not broadcast"),
    ("x + y", "shapes may not broadcast"),
    ("x @ y", "shapes may not fit"),
    ("x.max()", "an empty tensor has no maximum"),
    ("x.any(dim=1)", "there may be no dimension 1"),
    ("x.view(3, -1)", "sizes may not fit"),
    ("torch.logical_or(x, y)", "shapes may not broadcast"),
    ("x.sum().item()", "reads data"),
    ("int(x.sum())", "reads data"),
    ("not x.any()", "reads data"),
    ("x.any() or y.any()", "reads data"),
    ("x.nonzero()", "a size from data"),
    ("torch.where(x)", "a size from data"),
    ("F.embedding(x, y)", "fails on data"),
    ("x // y", "integers divide by zero"),
    ("torch.rand(3)", "draws random numbers"),
    ("x.add_(1)", "writes in place"),
    ("F.relu(x, inplace=True)", "writes in place"),
    ("F.dropout(x)", "draws random numbers"),
    ("late", "may be unbound"),
    ("self.sometimes", "may not be set"),
    ("self.missing", "is not set"),
    ("self.busy", "a property runs code"),
    ("names['a']", "a key may be missing"),
    ("c.value", "an attribute may be missing"),
    ("c()", "an unknown call"),
    ("c.method()", "an unknown call"),
    ("time.time()", "a clock"),
    ("10 / n", "divides by zero"),
    ("torch.isnan(u).any()", "only presumed to be a tensor"),
    ("u.dtype", "only presumed to be a tensor"),
]


@pytest.mark.parametrize("expr", EARLY)
def test_what_may_be_evaluated_early(tmp_path: Path, expr: str) -> None:
    assert Snippet(tmp_path, _LAYER.replace("{expr}", expr)).early(expr, "Layer.forward")


@pytest.mark.parametrize(("expr", "why"), NOT_EARLY)
def test_what_may_not_be_evaluated_early(tmp_path: Path, expr: str, why: str) -> None:
    snippet = Snippet(tmp_path, _LAYER.replace("{expr}", expr))
    assert not snippet.early(expr, "Layer.forward"), why


IMPURE = [
    "x.add_(1)",
    "x.clamp_(min=0)",
    "torch.add(x, y, out=y)",
    "F.relu(x, inplace=True)",
    "F.embedding(x, y, max_norm=1.0)",
    "torch.rand(2)",
    "torch.randn_like(x)",
    "F.dropout(x, 0.5, training=self.training)",
    "torch.bernoulli(x)",
    "time.time()",
    "random.random()",
    "next(c)",
    "open(c)",
    "print(x)",
    "logging.getLogger('a').info('x')",
    "warnings.warn('x')",
    "torch.manual_seed(0)",
    "names.pop('a')",
    "names.update(a=1)",
    "setattr(self, 'a', 1)",
    "c(x)",
    "self.busy",
    "Counter.bump()",
    "np.sort(c).sort()",
    "wrapped(x)",
]
PURE = [
    "torch.where(x > 0, x, y)",
    "torch.where((x > 0).any(dim=1))[0][0]",
    "x[0].tolist()",
    "x[n].sum().item()",
    "F.embedding(x, y)",
    "F.dropout(x, 0.5, training=False)",
    "names['a']",
    "names.get('a')",
    "len(names)",
    "sum(v.sum() for v in names.values())",
    "f'{x.sum():.3f} of {n}'",
    "'%s' % (n,)",
    "math.sqrt(n)",
    "double(x)",
    "int(x.max()) + 1",
    "ValueError('bad')",
]
_HELPERS = """
    def compute(self):
        self.n_calls = 1
        return True

def double(value):
    result = []
    result.append(value * 2)
    return result[0]

def noisy(function):
    def inner(*args):
        print("called")
        return function(*args)
    return inner

@noisy
def wrapped(value):
    return value

class Counter:
    total = 0
    @staticmethod
    def bump():
        Counter.total += 1
        return Counter.total
"""


@pytest.mark.parametrize("expr", IMPURE)
def test_effects_are_seen(tmp_path: Path, expr: str) -> None:
    text = _LAYER.replace("print({expr})", f"c = [{expr}]") + _HELPERS
    assert not Snippet(tmp_path, text).pure(expr, "Layer.forward")


@pytest.mark.parametrize("expr", PURE)
def test_reading_and_computing_is_pure(tmp_path: Path, expr: str) -> None:
    text = _LAYER.replace("print({expr})", f"c = [{expr}]") + _HELPERS
    assert Snippet(tmp_path, text).pure(expr, "Layer.forward")


# SEMANTICS T6, W6 and D9: what a guard may protect, and an effect may explain.
FAILS = [
    "y = self.table(ids)",
    "y = F.embedding(ids, x)",
    "y = x[ids]",
    "y = x[:, ids]",
    "x[ids] = 0",
    "y = x.gather(0, ids)",
    "y = torch.index_select(x, 0, ids)",
    "x.index_add_(0, ids, x)",
    "x.scatter_(0, ids, x)",
    "y = x // ids",
    "y = x % ids",
    "y = torch.remainder(x, ids)",
    "y = torch.linalg.inv(x)",
    "y = torch.linalg.cholesky(x)",
    "y = F.one_hot(ids)",
    "y = F.cross_entropy(x, ids)",
    "y = torch.bernoulli(x)",
    "y = torch.multinomial(x, 1)",
    "y = torch.repeat_interleave(x, ids)",
    "torch._assert_async(x.all())",
    "torch._check(x.item() > 0)",
    "y = [1, 2, 3][ids.item()]",
    "y = 1 / x.sum().item()",
    "y = look_up(x, ids)",
    "for y in x[ids]: pass",
]
HOLDS = [
    "y = x + ids",
    "y = x.view(2, -1)",
    "y = x[0]",
    "y = x[:, 1:]",
    "y = x[x > 0]",
    "y = x // 2",
    "y = x % 2",
    "y = x / ids",
    "y = self.proj(x)",
    "y = torch.where(x > 0, x, x)",
    "y = F.layer_norm(x, (3,))",
    "y = torch.softmax(x, -1)",
    "y = F.dropout(x)",
    "y = torch.randn(3)",
    "y = x.split(2)",
    "y = '%d' % x.shape[0]",
]
_FAILING = """
def look_up(x, ids):
    return x.index_select(0, ids)

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.proj = nn.Embedding(3, 3), nn.Linear(3, 3)

    def forward(self, x: Tensor, ids: Tensor):
        pass
        {statement}
"""


def _failure(tmp_path: Path, statement: str) -> str | None:
    snippet = Snippet(tmp_path, _FAILING.replace("{statement}", statement))
    function = snippet.function("Layer.forward")
    return snippet.effects.data_failure(function.statements[1], function)


@pytest.mark.parametrize("statement", FAILS)
def test_failures_on_data_are_found(tmp_path: Path, statement: str) -> None:
    assert _failure(tmp_path, statement) is not None


@pytest.mark.parametrize("statement", HOLDS)
def test_other_statements_do_not_fail_on_data(tmp_path: Path, statement: str) -> None:
    assert _failure(tmp_path, statement) is None


def _writes(snippet: Snippet, statement: str, name: str) -> set[tuple[str, str, bool]]:
    function = snippet.function(name)
    found = snippet.effects.of_statement(snippet.statement(statement, function), function)
    return {(str(w.root.owner), w.root.name, w.tensor) for w in found.writes if w.outside}


def test_writes_name_what_they_change(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        _count = [0]

        def bump(values, by):
            values[0] += by

        def scale(t: Tensor):
            view = t.view(-1)
            view.mul_(2)
            return view

        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("seen", torch.zeros(3))
                self.calls = 0

            def note(self, x):
                self.seen.add_(1)

            def forward(self, x: Tensor, cache: dict):
                own, outs = torch.zeros(3), []
                own.add_(1)
                own[0] = 2
                outs.append(x)
                x.add_(1)
                x[0] = 3
                x.T.zero_()
                self.calls += 1
                self.last = x
                cache["k"] = x
                self.note(x)
                scale(x)
                scale(own)
                bump(_count, 1)
                return outs
        """,
    )
    where = "Layer.forward"
    for local in ("own.add_", "own[0]", "outs.append", "scale(own)"):
        assert not _writes(snippet, local, where), local
    for through in ("x.add_", "x[0]", "x.T.zero_", "scale(x)"):
        assert _writes(snippet, through, where) == {("argument", "x", True)}, through
    assert _writes(snippet, "self.calls", where) == {("attribute", "self.calls", False)}
    assert _writes(snippet, "self.last", where) == {("attribute", "self.last", False)}
    assert _writes(snippet, "cache", where) == {("argument", "cache", False)}
    assert _writes(snippet, "self.note", where) == {("attribute", "self.seen", True)}
    assert ("global", "_count", False) in _writes(snippet, "bump", where)


def test_python_state_is_told_from_tensors(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        class Layer(nn.Module):
            def forward(self, x: Tensor):
                x.add_(1)
                names = []
                names.append("a")
                self.n = 1
                return names
        """,
    )
    function = snippet.function("Layer.forward")
    state = [
        ast.unparse(s)
        for s in function.statements
        if snippet.effects.writes_python_state(s, function)
    ]
    assert state == ["self.n = 1"]


def test_functions_that_only_check(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        log = logging.getLogger(__name__)

        def check(condition, message):
            if not condition:
                raise ValueError(message)

        def notice(message):
            log.warning(message)

        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            if n < 0:
                raise ValueError(n)
            return n != 0 and even(n - 1)

        def stranger(fn, x):
            return fn(x)
        """,
    )
    of = {name: snippet.effects.of_function(f) for name, f in snippet.module.functions.items()}
    assert of["check"].raises and of["check"].pure
    assert of["notice"].logs and not of["notice"].raises
    assert of["even"].raises and of["even"].pure
    assert of["stranger"].unknown == {"fn"}


def test_context_managers_are_entered(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        class Timer:
            def __enter__(self):
                print("start")
            def __exit__(self, *args):
                return False

        def quiet(x: Tensor):
            with torch.no_grad(), torch.autocast("cpu"):
                return x * 2

        def noisy(x: Tensor):
            with Timer():
                return x * 2

        def strange(x: Tensor, lock):
            with lock:
                return x * 2
        """,
    )
    of = {name: snippet.effects.of_function(f) for name, f in snippet.module.functions.items()}
    assert of["quiet"].pure
    assert of["noisy"].logs
    assert of["strange"].unknown == {"lock"}
