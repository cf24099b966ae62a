"""The exception of a check that failed inside the graph.

A failing assert does not know it. It comes from the check's function itself, called with the values
of the first check that fails in the order of the program: the operators are run once more, one by
one, as far as that check.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from graphmend.runtime.async_checks import Check
from graphmend.runtime.operators import Recorder


def with_exceptions(
    compiled: Callable[..., Any], module: fx.GraphModule, checks: Sequence[Check]
) -> Callable[..., Any]:
    """`compiled`, which raises the exception of the first failing check where it fails."""
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    graph.output(graph.graph_copy(module.graph, copies))
    copied = fx.GraphModule(module, graph)
    # An attempt to trace something may have been taken back, with the checks in it.
    asserts = {copies[check.node]: check for check in checks if check.node in copies}

    @functools.wraps(compiled)
    def checked(*args: Any) -> Any:
        try:
            return compiled(*args)
        except Exception as error:
            failed = _failed_call(error, copied, args, asserts, copies)
            if failed is None:
                raise
        failed()
        raise AssertionError("a check that failed in the graph passes behind it")

    return checked


def _failed_call(
    error: Exception,
    module: fx.GraphModule,
    args: tuple[Any, ...],
    asserts: dict[fx.Node, Check],
    copies: dict[fx.Node, fx.Node],
) -> Callable[[], None] | None:
    """The call of the first check that fails, if one does: it raises the program's exception."""
    if isinstance(error, torch.AcceleratorError):
        return None  # the device is lost, and with it all values
    drawn = Recorder()
    with torch.random.fork_rng(), torch.no_grad(), drawn:
        found = _Search(module, asserts, copies).run_until_failure(args)
    if not drawn.is_random:
        return found
    # Random numbers are others this time: the message tells.
    named = [check for check in asserts.values() if check.name in str(error)]
    return functools.partial(named[0].call, *named[0].failing) if named else None


class _Search(fx.Interpreter):
    """Runs operators one by one until a check fails."""

    def __init__(
        self,
        module: fx.GraphModule,
        asserts: dict[fx.Node, Check],
        copies: dict[fx.Node, fx.Node],
    ) -> None:
        super().__init__(module, garbage_collect_values=False)
        self._asserts = asserts
        self._copies = copies
        self._failed: Callable[[], None] | None = None

    def run_until_failure(self, args: tuple[Any, ...]) -> Callable[[], None] | None:
        try:
            self.run(*args, enable_io_processing=False)
        except Exception:
            return self._failed
        return None

    def run_node(self, node: fx.Node) -> Any:
        check = self._asserts.get(node)
        if check is None:
            return super().run_node(node)
        if not self.env[node.args[0]]:  # type: ignore[index]
            values = [
                self.env[self._copies[a]] if isinstance(a, fx.Node) else a for a in check.arguments
            ]
            self._failed = functools.partial(check.call, *values)
            raise RuntimeError(check.name)
        return None
