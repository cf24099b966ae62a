"""Which functions torch.compile may trace."""

from textwrap import dedent

import pytest

from graphmend.analyses.reach import reach_reason, reached


def names(code, name="a.py"):
    return {f.qualname for f in reached(code.project, code.module(name))}


# -- never reached -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "class N(nn.Module):\n    def __init__(self, x):\n        print(torch.relu(x))\n",
        "class N(nn.Module):\n    def extra_repr(self):\n        return print(1)\n",
        "class N(nn.Module):\n    def reset_parameters(self):\n        print(1)\n",
        "class N(nn.Module):\n    def load_weights(self, x):\n        print(torch.relu(x))\n",
        "class N(nn.Module):\n    def helper(self, x):\n        print(torch.relu(x))\n",
        "class C:\n    def __post_init__(self):\n        print(torch.relu(self.x))\n",
        "class D(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n"
        "        return print(torch.stack(i))\n",
        "def collate(xs):\n    print(1)\n    return torch.stack(xs)\n",
        "def test_relu(x):\n    assert torch.relu(x) > 0\n",
        "def train(model, loader):\n    for x in loader:\n        print(torch.relu(model(x)))\n",
        "def train(x, opt):\n    loss = torch.relu(x)\n    loss.backward()\n    print(loss)\n",
        "def train(x, optimizer):\n    print(torch.relu(x))\n    optimizer.step()\n",
        "def train(x, opt):\n    print(torch.relu(x))\n    opt.zero_grad()\n",
        "def evaluate(model, x):\n    model.eval()\n    print(torch.relu(x))\n",
        "def convert(path, x):\n    torch.save(torch.relu(x), path)\n    print(path)\n",
        "def convert(path, x):\n    with open(path) as f:\n        print(torch.relu(x))\n",
        "def main(x):\n    p = argparse.ArgumentParser()\n    print(torch.relu(x))\n",
        "@torch.no_grad()\ndef generate(net, x):\n    while x.sum() > 0:\n"
        "        x = torch.relu(net(x))\n",
        "def sample(model, x):\n    for _ in range(3):\n        x = torch.relu(model(x))\n",
        "@torch.compiler.disable\ndef f(x):\n    print(torch.relu(x))\n",
        "@torch._dynamo.disable(recursive=True)\ndef f(x):\n    print(torch.relu(x))\n",
        "@torch.jit.ignore\ndef f(x):\n    print(torch.relu(x))\n",
        "@deferred_check\ndef f(x):\n    if x.any():\n        raise ValueError(torch.relu(x))\n",
        "@torch.library.custom_op('a::b', mutates_args='')\ndef f(x):\n    torch.relu(x)\n",
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        print(torch.relu(x))\n",
        "def f(n: int):\n    print(torch.zeros(n))\n",
        "def f(name):\n    print(name.split(','))\n",
        "print(torch.relu(torch.zeros(2)))\n",
        # arrays, images, text and numbers of any framework
        "import numpy as np\ndef f(p):\n    print(p)\n    return np.clip(np.load(p), 0, 1)\n",
        "import numpy as np\ndef f(x):\n    print(x)\n    return np.tanh(x + np.random.rand())\n",
        "def f(x: 'np.ndarray | torch.Tensor'):\n    print(x)\n    return x.mean()\n",
        "def f(image: Image):\n    print(image)\n    return image.max()\n",
        "def f(ids: list[int]):\n    print(max(ids))\n    return ids.sort()\n",
        "def f(ids):\n    print(ids)\n    return ids.tolist()\n",
        "def f(batch, device):\n    print(batch)\n    return batch.to(device)\n",
        "def f(n, device):\n    x = torch.zeros(n, device=device)\n    return print(x + x)\n",
        # programs around models
        "def f(model, x):\n    print(x)\n    return torch.relu(model.generate(x))\n",
        "def f(net, x):\n    for n, m in net.named_modules():\n        print(torch.relu(x))\n",
        "import importlib.util\ndef f(x):\n    print(importlib.util.find_spec('a'))\n"
        "    return torch.relu(x)\n",
        "class T:\n    def fit(self, x):\n        self.loss(x).backward()\n"
        "    def loss(self, x):\n        print(x)\n        return torch.relu(x)\n",
    ],
)
def test_never(write, body):
    head = (
        "import argparse, torch\nfrom torch import nn\n"
        "from graphmend.runtime import deferred_check\n"
    )
    assert names(write({"a.py": head + body})) == set()


@pytest.mark.semantics("D7", "refused")
def test_what_only_constructors_call(write):
    code = write(
        {
            "a.py": """
                import torch
                from torch import nn
                def slopes(n):
                    print(n)
                    return torch.arange(n)
                class N(nn.Module):
                    def __init__(self, n):
                        self.s = slopes(n)
                        self.setup(n)
                    def setup(self, n):
                        print(n)
                    def forward(self, x):
                        return x
                """
        }
    )
    assert names(code) == {"N.forward"}


@pytest.mark.semantics("D7", "refused")
def test_what_only_a_disabled_function_calls(write):
    code = write(
        {
            "a.py": """
                import torch
                def log(x):
                    print(torch.mean(x))
                @torch.compiler.disable
                def report(x):
                    log(x)
                def f(x):
                    report(x)
                    return torch.relu(x)
                """
        }
    )
    assert names(code) == {"f"}


def test_a_script_that_compiles_one_function_compiles_no_other(write):
    code = write(
        {
            "a.py": """
                import torch
                def step(x):
                    return helper(x)
                def helper(x):
                    return torch.relu(x)
                def metrics(x):
                    print(torch.mean(x))
                if __name__ == "__main__":
                    fast = torch.compile(step)
                    metrics(fast(torch.zeros(2)))
                """
        }
    )
    assert names(code) == {"step", "helper"}


@pytest.mark.semantics("D7", "refused")
def test_test_files_are_not_reached(write):
    code = write({"test_a.py": "import torch\ndef f(x):\n    print(torch.relu(x))\n"})
    assert names(code, "test_a.py") == set()


def test_tensor_code_that_may_never_be_compiled_spreads_no_further_than_its_data(write):
    files = {
        "b.py": """
            def warn(message):
                print(message)
            def check(x):
                warn(x)
            def deco(fn):
                def wrapper(x):
                    print(1)
                    return fn(x)
                return wrapper
            """,
        "a.py": """
            import torch
            from b import warn, check, deco
            def f(x):
                warn("here")
                return torch.relu(x)
            @deco
            def g(x):
                check(x)
                return f(x)
            """,
    }
    code = write(files)
    assert names(code) == {"f", "g"}
    assert names(code, "b.py") == set()


def test_a_method_of_the_same_name_on_something_unknown(write):
    code = write(
        {
            "b.py": """
                class Config:
                    def lookup(self, x):
                        print(x)
                class Other(Config): pass
                """,
            "a.py": """
                import torch
                from b import Other
                class N(torch.nn.Module):
                    def forward(self, x, cache):
                        return cache.lookup(x)
                """,
        }
    )
    assert names(code, "b.py") == set()


# -- compiled by name ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "@torch.compile\ndef f(x): pass\n",
        "@torch.compile(fullgraph=True)\ndef f(x): pass\n",
        "from torch import compile\n@compile\ndef f(x): pass\n",
        "@torch._dynamo.optimize('eager')\ndef f(x): pass\n",
        "from functools import partial\n@partial(torch.compile, dynamic=True)\ndef f(x): pass\n",
        "def f(x): pass\ng = torch.compile(f)\n",
        "def f(x): pass\ng = torch.compile(f, mode='max-autotune')\n",
        "def f(x): pass\ng = torch.compile(mode='max-autotune')(f)\n",
        "import functools\ndef f(x): pass\ng = functools.partial(torch.compile, dynamic=True)(f)\n",
        "import functools\nfast = functools.partial(torch.compile, dynamic=True)\n"
        "def f(x): pass\ng = fast(f)\n",
        "def f(x): pass\ndef main():\n    return torch.compile(model=f)\n",
        "def f(x): pass\nclass A:\n    def __init__(self):\n        self.f = torch.compile(f)\n",
    ],
)
def test_functions_compiled_by_name(write, text):
    assert names(write({"a.py": "import torch\n" + text})) == {"f"}


@pytest.mark.parametrize(
    "use",
    [
        "torch.compile(A())",
        "a = A()\na.compile()",
        "torch.compile(A().forward)",
        "torch.export.export(A(), (1,))",
    ],
)
def test_objects_compiled_by_name(write, use):
    text = "import torch\nclass A(torch.nn.Module):\n    def forward(self, x): pass\n" + use
    assert names(write({"a.py": text})) == {"A.forward"}


def test_a_method_compiled_by_name(write):
    code = write(
        {
            "a.py": """
                import torch
                class A:
                    def __init__(self):
                        self.fast = torch.compile(self.slow)
                    def slow(self, x): return self.helper(x)
                    def helper(self, x): return x
                    def other(self, x): return x
                """
        }
    )
    assert names(code) == {"A.slow", "A.helper"}


# -- modules and tensor code ---------------------------------------------------------------


def test_forward_and_what_it_calls(write):
    code = write(
        {
            "a.py": """
                import torch
                from torch import nn
                from b import deco, Base
                def free(x): return x
                class Block(nn.Module):
                    def forward(self, x): return x
                    @property
                    def width(self): return 1
                class Manager:
                    def __enter__(self): return self
                    def __exit__(self, *a): pass
                class Net(Base):
                    def __init__(self):
                        self.blocks = nn.ModuleList([Block()])
                    @deco
                    def forward(self, x):
                        def inner(y): return y
                        x = inner(free(x))
                        for b in self.blocks:
                            x = b(x) + b.width
                        with Manager():
                            return self.apply_all(x)
                    def apply_all(self, x):
                        return list(map(self.each, x))
                    def each(self, x): return x
                    def unused(self, x): return x
                """,
            "b.py": """
                from torch import nn
                class Base(nn.Module): pass
                def deco(fn):
                    def wrapper(self, x):
                        if x.any():
                            helper(x)
                        return fn(self, x)
                    def helper(x):
                        print(x)
                    return wrapper
                """,
        }
    )
    assert names(code) == {
        "free",
        "Block.forward",
        "Block.width",
        "Manager.__enter__",
        "Manager.__exit__",
        "Net.forward",
        "Net.forward.<locals>.inner",
        "Net.apply_all",
        "Net.each",
    }
    # Asked for alone, the module of the decorator gives the same answer.
    assert names(code, "b.py") == {"deco.<locals>.wrapper", "deco.<locals>.helper"}


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return torch.relu(x)\n",
        "def _f(x):\n    return torch.relu(x)\n",
        "def f(x):\n    y = x * 2\n    return y.softmax(-1)\n",
        "def f(x):\n    x.add_(1)\n",
        "def f(x):\n    s = x.sum()\n    return s\n",
        "def f(x: torch.Tensor):\n    return x\n",
        "def f(xs: 'list[torch.Tensor]'):\n    return xs\n",
        "def f(xs):\n    for x in xs:\n        x.mul_(2)\n",
        "import torch.nn.functional as F\ndef f(x):\n    return F.relu(x)\n",
        "class A:\n    def f(self, x):\n        return torch.relu(x)\n",
    ],
)
def test_tensor_code_of_a_library(write, text):
    assert len(names(write({"a.py": "import torch\n" + text}))) == 1


def test_a_helper_is_reached_from_another_module(write):
    code = write(
        {
            "checks.py": """
                class CheckError(Exception): pass
                def check(ok, message):
                    if not ok:
                        raise CheckError(message)
                def unused(ok):
                    if not ok:
                        raise CheckError
                """,
            "a.py": "import torch\nfrom checks import check\n"
            "def f(x):\n    check((x > 0).all(), 'm')\n    return torch.relu(x)\n",
        }
    )
    assert names(code, "checks.py") == {"check"}
    reason = reach_reason(code.project, code.function("checks.py", "check"))
    assert reason == "called from f in a"


def test_a_mixin_is_reached_from_the_module_that_uses_it(write):
    code = write(
        {
            "base.py": dedent(
                """
                import torch
                from torch import nn
                def setup():
                    torch.compile(print)
                class Mixin:
                    def mask(self, x):
                        if x.any():
                            raise ValueError
                    def other(self, x):
                        if x.any():
                            raise ValueError
                class Base(nn.Module, Mixin): pass
                """
            ),
            "a.py": "from base import Base\nclass Net(Base):\n    def forward(self, x):\n"
            "        return self.mask(x)\n",
        }
    )
    assert names(code, "base.py") == {"Mixin.mask"}


def test_only_wanted_functions_are_looked_for(write):
    code = write(
        {
            "b.py": "def check(x):\n    if x():\n        raise ValueError\n",
            "a.py": "import torch\nfrom b import check\n"
            "def f(x):\n    check(x)\n    return torch.relu(x)\n",
        }
    )
    assert reached(code.project, code.module("b.py"), lambda f: False) == {}
    assert set(reached(code.project, code.module("b.py"))) == {code.function("b.py", "check")}


def test_numpy_code_counts_where_torch_is_at_hand(write):
    body = "import numpy as np\ndef f(x):\n    print(x)\n    return np.clip(x.sum(), 0, 1)\n"
    assert names(write({"a.py": "import torch\n" + body})) == {"f"}
    assert names(write({"b.py": body}), "b.py") == set()
