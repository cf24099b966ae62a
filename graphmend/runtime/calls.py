"""A deferred call met while tracing: record it, inline it, or let it run in place."""

import contextlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo import config, variables
from torch._dynamo.exc import Unsupported, UserError

from graphmend.runtime import (
    async_checks,
    fallback,
    graph_hazards,
    graph_writes,
    places,
    python_writes,
)
from graphmend.runtime.arguments import ArgumentReader, NotDeferrable
from graphmend.runtime.handlers import Around, Surroundings, is_in_finally, surroundings
from graphmend.runtime.marks import Kind, Mark
from graphmend.runtime.region import Record, SiteKey, in_place_sites, region_of


def call(tx: Any, callee: Any, mark: Mark, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What the call of a deferred function gives while tracing.

    `callee` is the variable of the function. The result stands for None.
    """
    try:
        everywhere = in_place_sites(tx).get(None)
        if everywhere is not None:
            raise NotDeferrable(everywhere)
        if fallback.is_exporting(tx):
            raise NotDeferrable("the program is being exported")
        bound = _bind(callee.value, args, kwargs)
        if mark.kind is not Kind.EFFECT and _decided_while_tracing(tx, callee, bound):
            return variables.ConstantVariable.create(None)
        if mark.kind is Kind.ASYNC:
            site = fallback.site_of(tx)
            around = _require_deferrable(tx, callee, mark, site)
            async_checks.assert_in_graph(tx, callee, bound, site, around.worst)
        else:
            _record(tx, callee, mark, bound)
    except NotDeferrable as reason:
        return fallback.in_place(tx, callee, args, kwargs, reason)
    return variables.ConstantVariable.create(None)


def _bind(
    function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    try:
        return inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise NotDeferrable(f"the call does not fit the function: {error}") from None


def _decided_while_tracing(tx: Any, callee: Any, bound: inspect.BoundArguments) -> bool:
    """Whether the guard could be traced as it is, because nothing that it tests is a tensor.

    Its exception, if it raises, leaves this function as that of a traced raise statement.
    """
    if bound.args and bound.args[0].realize().is_tensor():
        return False
    side_effects, graph = tx.output.side_effects, tx.output.graph
    before = python_writes.snapshot(side_effects)
    last = next(iter(reversed(graph.nodes)), None)
    try:
        with _data_unread(tx), config.patch(rewrite_assert_with_torch_assert=False):
            fallback.inline(tx, callee, list(bound.args), dict(bound.kwargs))
    except (Unsupported, UserError) as error:
        if not python_writes.same(before, python_writes.snapshot(side_effects)):
            raise
        if isinstance(error, Unsupported):
            error.remove_from_stats()
        _erase_after(graph, last)
        return False
    return True


@contextlib.contextmanager
def _data_unread(tx: Any) -> Iterator[None]:
    """Let whatever reads a number from a tensor break the graph, with fullgraph=True as well."""
    is_one_graph = tx.one_graph
    tx.one_graph = False
    try:
        with config.patch(capture_scalar_outputs=False):
            yield
    finally:
        tx.one_graph = is_one_graph


def _erase_after(graph: torch.fx.Graph, last: torch.fx.Node | None) -> None:
    """Erase the unused operators that an abandoned attempt has left behind `last`."""
    for node in reversed(list(graph.nodes)):
        if node is last:
            return
        if node.op not in ("placeholder", "output") and not node.users:
            graph.erase_node(node)


def _record(tx: Any, callee: Any, mark: Mark, bound: inspect.BoundArguments) -> None:
    site = fallback.site_of(tx)
    around = _require_deferrable(tx, callee, mark, site)
    reader = ArgumentReader(tx, callee.value)
    arguments = reader.read(_named(bound), bound.kwargs)
    output = tx.output
    place = places.place_of(tx)
    region_of(output).records.append(
        Record(
            kind=mark.kind,
            callee=callee,
            function=callee.value,
            site=site,
            place=place,
            resumed=places.is_resumed(output.root_tx),
            instruction=output.root_tx.current_instruction,
            arguments=arguments,
            position=graph_writes.last_operator(output.graph),
            versions=graph_writes.Versions.now(
                output.graph, [held.fake for held in arguments.tensors]
            ),
            writes=python_writes.snapshot(output.side_effects),
            modes=places.modes_now(),
            around=around,
            speculations=tx.speculation_log.index,
        )
    )


def _named(bound: inspect.BoundArguments) -> list[tuple[str | None, Any]]:
    """The positional arguments with the parameters that hold them alone."""
    parameters = bound.signature.parameters.values()
    names = [p.name for p in parameters if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    return list(zip([*names, *(None for _ in bound.args)], bound.args, strict=False))


def _require_deferrable(tx: Any, callee: Any, mark: Mark, site: SiteKey) -> Surroundings:
    """What surrounds the call; raises NotDeferrable where that, or the past, forbids deferring."""
    fallback.require_allowed(tx, site)
    if callee.source is None:
        raise NotDeferrable("the function cannot be found again by name")
    if len(tx.exn_vt_stack):
        raise NotDeferrable("the call stands in an exception handler")
    if is_in_finally(tx):
        # Had an operator failed in the try block, eager execution would have come here all the
        # same; TorchDynamo's code for the operators would not.
        fails = any(graph_hazards.may_fail(node) for node in tx.output.graph.nodes)
        raise NotDeferrable("the call stands in a finally block", skips_frame=fails)
    around = surroundings(tx)
    if around.worst is Around.UNKNOWN:
        raise NotDeferrable("the call stands inside a with statement")
    if around.worst is Around.CATCHES and mark.kind is Kind.CHECK:
        raise NotDeferrable("the check's exception may be caught in the region")
    return around
