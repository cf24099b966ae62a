"""What a call runs."""

import pytest


def project(write, text, **others):
    return write({"a.py": text, **{f"{name}.py": body for name, body in others.items()}})


# -- what is not known is not claimed ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("def f(g):\n    g()\n", "g()"),
        ("def f(x):\n    x.run()\n", "x.run()"),
        ("REGISTRY = {}\ndef f(k):\n    REGISTRY[k]()\n", "REGISTRY[k]()"),
        ("import unread\ndef f():\n    import a\n    a.gone()\n", "a.gone()"),
        (
            "def one(): pass\ndef two(): pass\ndef f(c):\n    g = one if c else two\n    g()\n",
            "g()",
        ),
        ("def h(): pass\ndef f(g):\n    for g in g.all():\n        g()\n", "g()"),
        ("from x import deco\n@deco\ndef h(): pass\ndef f():\n    h()\n", "h()"),
        (
            "class A:\n    def run(self):\n        self.step()\n    def step(self): pass\n"
            "class B(A):\n    def step(self): pass\n",
            "self.step()",
        ),
        (
            "class A:\n    def __init__(self, c):\n        self.g = c\n        self.g = print\n"
            "    def run(self):\n        self.g()\n",
            "self.g()",
        ),
    ],
)
def test_no_single_callee(write, text, call):
    assert project(write, text).callee("a.py", call) is None


def test_a_shadowed_name_is_not_the_function(write):
    code = project(write, "def h(): pass\ndef f(h):\n    h()\n")
    assert code.callees("a.py", "h()") == set()


def test_an_entry_of_an_unknown_registry_is_incomplete(write):
    code = project(write, "from torch import nn\nT = {**nn.x}\ndef f(k):\n    T[k](1)\n")
    assert not code.project.callees(*code.call("a.py", "T[k](1)")).complete


def test_any_module_may_run_anything(write):
    text = "from torch import nn\ndef make() -> nn.Module:\n    return x\ndef f():\n    make()(1)\n"
    code = project(write, text)
    assert not code.project.callees(*code.call("a.py", "make()(1)")).complete
    assert code.operator("a.py", "make()(1)") is None


# -- functions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "call", "callee"),
    [
        ("def h(): pass\ndef f():\n    h()\n", "h()", "h"),
        ("from b import h\ndef f():\n    h()\n", "h()", "h"),
        ("from b import h as k\ndef f():\n    k()\n", "k()", "h"),
        ("import b\ndef f():\n    b.h()\n", "b.h()", "h"),
        ("def f():\n    from b import h\n    h()\n", "h()", "h"),
        ("from b import h\nk = h\ndef f():\n    k()\n", "k()", "h"),
        ("def f():\n    def inner(): pass\n    inner()\n", "inner()", "f.<locals>.inner"),
        ("def h(): pass\ndef f():\n    g = h\n    g()\n", "g()", "h"),
        (
            "from functools import partial\ndef h(x): pass\ng = partial(h, 1)\ndef f():\n    g()\n",
            "g()",
            "h",
        ),
        ("import torch\n@torch.no_grad()\ndef h(): pass\ndef f():\n    h()\n", "h()", "h"),
        ("class C: pass\ndef f():\n    C()\n", "C()", "C"),
        ("def f():\n    (lambda: 1)()\n", "(lambda: 1)()", "f.<locals>.<lambda>"),
    ],
)
def test_functions(write, text, call, callee):
    code = project(write, text, b="def h(): pass\n")
    assert code.callee("a.py", call) == callee


def test_a_cached_function_says_so(write):
    code = project(
        write, "import functools\n@functools.lru_cache(None)\ndef h(): pass\ndef f():\n    h()\n"
    )
    assert code.callee("a.py", "h()") == "h"
    assert code.project.callees(*code.call("a.py", "h()")).cached
    assert code.project.is_cached(code.function("a.py", "h"))


def test_a_wrapped_function_runs_wrapper_and_wrapped(write):
    code = project(
        write,
        """
        from b import deco, factory, same
        @deco
        def one(): pass
        @factory("x")
        def two(): pass
        @same
        def three(): pass
        def f():
            one(); two(); three()
        """,
        b="""
        import functools
        def deco(fn):
            @functools.wraps(fn)
            def wrapper(*args):
                return fn(*args)
            return wrapper
        def factory(text):
            def outer(fn):
                def inner(*args):
                    return fn(*args)
                return functools.wraps(fn)(inner)
            return outer
        def same(fn):
            fn.seen = True
            return fn
        """,
    )
    assert code.callees("a.py", "one()") == {"one", "deco.<locals>.wrapper"}
    assert code.callee("a.py", "one()") is None
    assert code.callees("a.py", "two()") == {
        "two",
        "factory.<locals>.outer.<locals>.inner",
    }
    assert code.callee("a.py", "three()") == "three"


# -- methods -------------------------------------------------------------------------------

METHODS = """
    from torch import nn
    from b import Base, make
    class Env:
        def step(self): pass
    ENV = Env()
    class Net(Base):
        limit = Env()
        def __init__(self, n):
            self.env = Env()
            self.act = nn.ReLU()
            self.maybe = None
            self.maybe = Env()
            self.blocks = nn.ModuleList([Block() for _ in range(n)])
            self.seq = nn.Sequential(Block(), nn.ReLU())
            layers = []
            for _ in range(n):
                layers.append(Block())
            self.layers = nn.ModuleList(layers)
            self.more = nn.ModuleList()
            self.more.append(Block())
            self.table = nn.ModuleDict({"a": Block()})
            self.clones = make(Block(), 3)
        def forward(self, x, other: Env):
            self.helper(1)
            super().forward(2)
            self.env.step()
            self.maybe.step()
            self.limit.step()
            ENV.step()
            for b in self.blocks: b(3)
            for i, c in enumerate(self.layers): c(4)
            for name, d in self.table.items(): d(5)
            for e, g in zip(self.more, x): e(6)
            self.blocks[0](7)
            for h in self.blocks[1:]: h(8)
            [k(9) for k in self.clones]
            self.seq(10)
            e = Env()
            e.step(11)
            self.act(12)
            self.table["a"](13)
            other.step(14)
            Net.static(15)
            self.register_buffer("x", None)
            self(16)
            getattr(self, "helper")(17)
        @staticmethod
        def static(x): pass
    class Block(nn.Module):
        def forward(self, x): pass
    """
BASE = """
    import copy
    from torch import nn
    class Base(nn.Module):
        def helper(self, x): pass
        def forward(self, x): pass
    def make(module, n):
        return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])
    """


@pytest.mark.parametrize(
    ("call", "callee"),
    [
        ("self.helper(1)", "Base.helper"),
        ("super().forward(2)", "Base.forward"),
        ("self.env.step()", "Env.step"),
        ("self.maybe.step()", "Env.step"),
        ("self.limit.step()", "Env.step"),
        ("ENV.step()", "Env.step"),
        ("b(3)", "Block.forward"),
        ("c(4)", "Block.forward"),
        ("d(5)", "Block.forward"),
        ("e(6)", None),  # `e` is also an Env further down
        ("self.blocks[0](7)", "Block.forward"),
        ("h(8)", "Block.forward"),
        ("k(9)", "Block.forward"),
        ("self.seq(10)", None),  # the block and what lies outside
        ("e.step(11)", None),
        ("self.act(12)", None),
        ("self.table['a'](13)", "Block.forward"),
        ("other.step(14)", None),  # an annotation promises nothing
        ("Net.static(15)", "Net.static"),
        ("self(16)", "Net.forward"),
        ("getattr(self, 'helper')(17)", "Base.helper"),
    ],
)
def test_methods(write, call, callee):
    code = project(write, METHODS, b=BASE)
    assert code.callee("a.py", call) == callee


def test_what_may_be_called_goes_further(write):
    code = project(write, METHODS, b=BASE)
    assert code.callees("a.py", "other.step(14)") == {"Env.step"}
    assert code.callees("a.py", "e.step(11)") == {"Env.step"}
    assert code.callees("a.py", "self.seq(10)") == {"Block.forward"}


def test_dispatch_tables(write):
    code = project(
        write,
        """
        from torch import nn
        class A(nn.Module):
            def forward(self, x): pass
        class B(A):
            def forward(self, x): pass
        CLASSES = {"a": A, "b": B}
        class Net(nn.Module):
            def __init__(self, config):
                self.attn = CLASSES[config.kind](config)
            def forward(self, x):
                return self.attn(x)
        """,
    )
    assert code.callees("a.py", "self.attn(x)") == {"A.forward", "B.forward"}
    assert code.callees("a.py", "CLASSES[config.kind](config)") == {"A", "B"}


# -- what lies outside ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("F.relu(x)", "torch.nn.functional.relu"),
        ("act(x)", "torch.nn.functional.gelu"),
        ("print(1)", "builtins.print"),
        ("log.info('a')", "logging.Logger.info"),
        ("self.fc(x)", "torch.nn.Linear.forward"),
        ("self.register_buffer('x', x)", "torch.nn.Module.register_buffer"),
        ("', '.join(x)", "builtins.str.join"),
        ("x.item()", None),
        ("own()", None),
    ],
)
def test_operators(write, call, name):
    code = project(
        write,
        """
        import logging
        import torch.nn.functional as F
        from torch import nn
        from b import act
        log = logging.getLogger(__name__)
        def own(): pass
        class Net(nn.Module):
            def __init__(self):
                self.fc = nn.Linear(2, 2)
            def forward(self, x):
                F.relu(x); act(x); print(1); log.info('a'); self.fc(x); own(); x.item()
                self.register_buffer('x', x); ', '.join(x)
        """,
        b="from torch.nn.functional import gelu as act\n",
    )
    assert code.operator("a.py", call) == name


def test_methods_that_a_package_adds_to_loggers(write):
    code = project(
        write,
        "from b import get_logger\nlogger = get_logger(__name__)\n"
        "def f():\n    logger.once('x')\n    logger.info('x')\n",
        b="""
        import functools, logging
        def get_logger(name=None) -> logging.Logger:
            return logging.getLogger(name)
        @functools.lru_cache(None)
        def once(self, *args):
            self.warning(*args)
        logging.Logger.once = once
        """,
    )
    assert code.callee("a.py", "logger.once('x')") == "once"
    assert code.operator("a.py", "logger.info('x')") == "logging.Logger.info"
