"""Control-flow graphs: edges, dominance, order and nesting."""

from __future__ import annotations

import ast

import pytest

from graphmend.ir.cfg import Label, Node, Sentinel, TryPart
from graphmend.ir.symbols import Function
from tests.ir.samples import function


def _name(node: Node) -> str:
    """A node by its first line's text, so that tests can name it."""
    if isinstance(node, Sentinel):
        return node.name
    if isinstance(node, ast.ExceptHandler):
        return "except" + (f" {ast.unparse(node.type)}" if node.type else "")
    if isinstance(node, ast.match_case):
        return f"case {ast.unparse(node.pattern)}"
    return ast.unparse(node).splitlines()[0].rstrip(":")


def _edges(text: str) -> dict[str, str]:
    """'source target' to the labels in between."""
    graph = function(text).cfg.graph
    return {
        f"{_name(a)} -> {_name(b)}": " ".join(sorted(data["labels"]))
        for a, b, data in graph.edges(data=True)
    }


def _node(f: Function, name: str) -> ast.stmt:
    found = [n for n in f.cfg.nodes if _name(n) == name]
    assert len(found) == 1 and isinstance(found[0], ast.stmt)
    return found[0]


def test_branches() -> None:
    assert _edges("def f():\n  if a: b\n  elif c: d\n  return e\n") == {
        "ENTRY -> if a": "next",
        "if a -> b": "true",
        "if a -> if c": "false",
        "if c -> d": "true",
        "if c -> return e": "false",
        "b -> return e": "next",
        "d -> return e": "next",
        "return e -> EXIT": "next",
    }


def test_loops() -> None:
    text = """
    def f():
        for a in b:
            if c: continue
            if d: break
        else:
            e
        while True:
            g
    """
    assert _edges(text) == {
        "ENTRY -> for a in b": "next",
        "for a in b -> if c": "true",
        "for a in b -> e": "false",
        "if c -> continue": "true",
        "if c -> if d": "false",
        "continue -> for a in b": "back next",
        "if d -> break": "true",
        "if d -> for a in b": "back false",
        "break -> while True": "next",
        "e -> while True": "next",
        "while True -> g": "true",
        "g -> while True": "back next",
    }


def test_raise_and_assert_leave_the_function() -> None:
    assert _edges("def f():\n  assert a\n  raise b\n  c\n") == {
        "ENTRY -> assert a": "next",
        "assert a -> raise b": "next",
        "assert a -> RAISE": "except",
        "raise b -> RAISE": "except",
        "c -> EXIT": "next",
    }


def test_handlers_are_tried_in_order_and_finally_is_always_run() -> None:
    text = """
    def f():
        try:
            return a
        except B:
            c
        except D:
            e
        else:
            g
        finally:
            h
        i
    """
    assert _edges(text) == {
        "ENTRY -> try": "next",
        "try -> return a": "next",
        "return a -> except B": "except",
        "return a -> h": "next",
        "except B -> c": "true",
        "except B -> except D": "false",
        "except B -> h": "except",
        "except D -> e": "true",
        "except D -> h": "except",
        "c -> h": "except next",
        "e -> h": "except next",
        "g -> h": "except next",
        "h -> i": "next",
        "h -> EXIT": "next",
        "h -> RAISE": "except",
        "i -> EXIT": "next",
    }


def test_a_group_of_exceptions_may_be_split_among_handlers() -> None:
    text = """
    def f():
        try: a
        except* B: c
        except* D: e
        g
    """
    assert _edges(text) == {
        "ENTRY -> try": "next",
        "try -> a": "next",
        "a -> except B": "except",
        "a -> g": "next",
        "except B -> c": "true",
        "except B -> except D": "except false",
        "except B -> g": "false",
        "except B -> RAISE": "except",
        "c -> except D": "except next",
        "c -> g": "next",
        "c -> RAISE": "except",
        "except D -> e": "true",
        "except D -> g": "false",
        "except D -> RAISE": "except",
        "e -> g": "next",
        "e -> RAISE": "except",
        "g -> EXIT": "next",
    }


def test_nothing_passes_a_bare_except() -> None:
    edges = _edges("def f():\n  try: a\n  except: b\n  c\n")
    assert edges["a -> except"] == "except"
    assert not any(edge.endswith("RAISE") for edge in edges)


def test_an_unknown_context_manager_may_swallow_exceptions() -> None:
    edges = _edges("def f():\n  with a(): b\n  c\n")
    assert edges["b -> c"] == "except next"
    for known in ("torch.no_grad()", "torch.autocast('cpu')", "open(x)"):
        text = f"import torch\ndef f():\n  with {known}: b\n  c\n"
        assert _edges(text)["b -> c"] == "next"
    mixed = "import torch\ndef f():\n  with torch.no_grad(), a(): b\n  c\n"
    assert _edges(mixed)["b -> c"] == "except next"


def test_cases() -> None:
    edges = _edges("def f():\n  match a:\n    case 1: b\n    case _: c\n  d\n")
    assert edges == {
        "ENTRY -> match a": "next",
        "match a -> case 1": "next",
        "case 1 -> b": "true",
        "case 1 -> case _": "false",
        "case _ -> c": "true",
        "b -> d": "next",
        "c -> d": "next",
        "d -> EXIT": "next",
    }


def test_dominance() -> None:
    f = function(
        "def f():\n  a\n  if b: c\n  else: raise d\n  e\n  while g: h\n  while True: i\n  j\n"
    )
    cfg = f.cfg
    a, b, c, e, h = (_node(f, n) for n in ("a", "if b", "c", "e", "h"))
    assert cfg.dominates(a, h) and cfg.dominates(b, e) and cfg.dominates(c, e)
    assert cfg.dominates(e, e) and not cfg.dominates(h, e)
    assert cfg.dominators()[c] is b and Sentinel.ENTRY not in cfg.dominators()
    dead = _node(f, "j")
    assert dead not in cfg.dominators() and not cfg.dominates(a, dead)


def test_post_dominance() -> None:
    f = function("def f():\n  a\n  if b: raise c\n  d\n  for e in g: h\n  return i\n")
    cfg = f.cfg
    a, b, d, i = (_node(f, n) for n in ("a", "if b", "d", "return i"))
    assert cfg.post_dominates(b, a) and cfg.post_dominates(i, d)
    assert not cfg.post_dominates(d, a)
    assert cfg.post_dominators()[b] is Sentinel.END


def test_order() -> None:
    f = function("def f():\n  a\n  for b in c:\n    d\n    e\n  g\n")
    after = {_name(n) for n in f.cfg.reachable_after(_node(f, "e"))}
    assert after == {"for b in c", "d", "e", "g"}
    assert {_name(n) for n in f.cfg.reachable_after(_node(f, "a"))} == after
    assert f.cfg.reachable_after(_node(f, "g")) == set()


def test_nesting() -> None:
    f = function(
        """
        def f():
            for a in b:
                with c:
                    try:
                        while d: e
                    except g:
                        try: h
                        finally: i
                    else: j
            else: k
            def inner(): l
        """
    )
    cfg = f.cfg
    e, i, j, k = (_node(f, n) for n in "eijk")
    assert [_name(n) for n in cfg.enclosing_loops(e)] == ["while d", "for a in b"]
    assert [_name(n) for n in cfg.enclosing_withs(e)] == ["with c"]
    assert [part for _, part in cfg.enclosing_trys(e)] == [TryPart.BODY]
    assert [part for _, part in cfg.enclosing_trys(i)] == [TryPart.FINALLY, TryPart.HANDLER]
    assert [part for _, part in cfg.enclosing_trys(j)] == [TryPart.ELSE]
    assert cfg.enclosing_loops(k) == [] and cfg.enclosing_trys(k) == []
    inner = f.module.functions["f.<locals>.inner"]
    statement = inner.node.body[0]  # type: ignore[union-attr, index]
    assert cfg.node_of(statement) is inner.node and inner.cfg.enclosing_loops(statement) == []


def test_lambdas_and_foreign_nodes() -> None:
    f = function("def f():\n  return lambda x: x + 1\n")
    inner = f.module.functions["f.<locals>.<lambda>"]
    assert inner.cfg.nodes == [Sentinel.ENTRY, Sentinel.EXIT, Sentinel.RAISE]
    assert inner.cfg.edges[0].label is Label.NEXT
    assert isinstance(inner.node, ast.Lambda)
    assert inner.cfg.node_of(inner.node.body) is Sentinel.EXIT
    with pytest.raises(ValueError, match="not part of the body of f"):
        f.cfg.node_of(f.node)
