"""A call of `select` met while tracing: both sides go into the graph, or the branch stays."""

from typing import Any

import torch
from torch import fx
from torch._dynamo import variables
from torch._dynamo.exc import TorchRuntimeError, Unsupported

from graphmend.runtime import fallback, gradients, graph_writes, merge, result_aliases, sides, truth
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.join import Joiner


def call(tx: Any, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What the call of `select` gives while tracing."""
    site, speculations = fallback.site_of(tx), tx.speculation_log.index
    try:
        fallback.require_allowed(tx, site)
        predicate = args[0].realize() if len(args) > 2 else None
        if type(predicate) is not variables.TensorVariable:
            return fallback.inline(tx, callee, args, kwargs)
        caches = _caches(kwargs)
        condition = truth.held_truth(tx, predicate)
    except NotDeferrable as reason:
        return fallback.in_place(tx, callee, args, kwargs, reason)
    try:
        return _joined(tx, condition, args[1:], caches, (site, speculations))
    except (NotDeferrable, TorchRuntimeError, Unsupported) as reason:
        fallback.start_over(tx.output, site, speculations, str(reason))


def _require_strided_inputs(graph: fx.Graph) -> None:
    """Fake tensors do not tell the layouts of some libraries' own tensors."""
    for node in graph.nodes:
        value = getattr(node.meta.get("grapharg"), "example", None)
        if isinstance(value, torch.Tensor) and value.layout is not torch.strided:
            raise NotDeferrable("an input of the graph is a tensor that is not dense")


def _caches(kwargs: dict[str, Any]) -> frozenset[str]:
    if kwargs.keys() - {"caches"}:
        raise NotDeferrable("the call has keyword arguments that select does not take")
    return frozenset(kwargs["caches"].as_python_constant() if kwargs else ())


def _joined(
    tx: Any, condition: Any, args: list[Any], caches: frozenset[str], site: tuple[Any, int]
) -> Any:
    graph = tx.output.graph
    existing = graph_writes.Versions.of_all(graph).storages()
    then = sides.trace(tx, condition, True, args[0], args[2:])
    otherwise = sides.trace(tx, condition, False, args[1], args[2:])
    _require_strided_inputs(graph)
    joiner = Joiner(tx, condition)
    merge.merge(tx, joiner, then.writes, otherwise.writes, caches)
    result = joiner.join(then.result, otherwise.result)
    gated = gradients.neutralise(tx, condition, then, otherwise, joiner.joined)
    result_aliases.note(tx, *site, existing, gated, joiner.joined)
    return result
