"""Reports that stand before an operator that failed: they must appear before its exception.

The compiled graph does not say how far it came. So the operators are run once more, one by one, on
copies of the inputs, until one fails; the reports in front of it are made on the way.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from graphmend.runtime import replay
from graphmend.runtime.region import Record

_Report = Callable[[], None]


def with_recovery(
    compiled: Callable[..., Any], module: fx.GraphModule, records: list[Record]
) -> Callable[..., Any]:
    """`compiled`, which makes the reports of `records` when the graph fails after them."""
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    graph.output(graph.graph_copy(module.graph, copies))
    copied = fx.GraphModule(module, graph)
    reports: dict[fx.Node | None, list[_Report]] = {}
    for record in records:
        position = None if record.follows is None else copies[record.follows]
        reports.setdefault(position, []).append(_report(record))

    @functools.wraps(compiled)
    def recovering(*args: Any) -> Any:
        try:
            return compiled(*args)
        except Exception as error:
            _make_reports(error, copied, args, reports)
            raise

    return recovering


def _report(record: Record) -> _Report:
    values = [_python_value(value) for value in record.values]
    positional = values[: len(values) - len(record.arguments.keywords)]
    named = dict(zip(record.arguments.keywords, values[len(positional) :], strict=True))
    call = replay.entry(record.function, record.place, None, 0, ())
    return lambda: call(*positional, **named)


def _python_value(variable: Any) -> Any:
    if variable.is_python_constant():
        return variable.as_python_constant()
    return variable.get_real_python_backed_value()


def _make_reports(
    error: Exception,
    module: fx.GraphModule,
    args: tuple[Any, ...],
    reports: dict[fx.Node | None, list[_Report]],
) -> None:
    if isinstance(error, torch.AcceleratorError):
        # The device is lost, and the failure shows only after all operators were launched.
        for report in (r for group in reports.values() for r in group):
            report()
        return
    copies = [a.detach().clone() if isinstance(a, torch.Tensor) else a for a in args]
    with torch.random.fork_rng(), torch.no_grad():
        _Reporter(module, reports).run_until_failure(copies)


class _Reporter(fx.Interpreter):
    """Runs operators one by one and makes the reports that stand behind each."""

    def __init__(
        self, module: fx.GraphModule, reports: dict[fx.Node | None, list[_Report]]
    ) -> None:
        super().__init__(module, garbage_collect_values=False)
        self._reports = reports

    def run_until_failure(self, args: list[Any]) -> None:
        self._make(None)
        try:
            self.run(*args, enable_io_processing=False)
        except _ReportFailed as failed:
            raise failed.error from None
        except Exception:
            return

    def run_node(self, node: fx.Node) -> Any:
        result = super().run_node(node)
        try:
            self._make(node)
        except Exception as error:  # a warning that is an error, say: it comes first
            raise _ReportFailed(error) from error
        return result

    def _make(self, position: fx.Node | None) -> None:
        for report in self._reports.get(position, ()):
            report()


class _ReportFailed(Exception):
    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
